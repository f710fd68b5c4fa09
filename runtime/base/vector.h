/* vector.h -- arrays that grow: their room doubles, so that appending n elements copies fewer than 2 n. */
#ifndef NNB_BASE_VECTOR_H
#define NNB_BASE_VECTOR_H

#include <stdlib.h>

static inline size_t nnb__doubled(size_t room, size_t n, size_t least)
{
	room = room ? room : least;
	while (room < n)
		room *= 2;
	return room;
}

/*
 * Make room for @n elements in @array, which has room for @room; the first room is @least. @array and @room are
 * changed. False: there is no memory, and nothing has changed. The caller bounds @n, so that sizes do not overflow.
 */
#define NNB__RESERVE(array, room, n, least)                                              \
	((n) <= (room) || ({                                                             \
		 size_t reserve_room = nnb__doubled((room), (n), (least));               \
		 void *reserve_more = realloc((array), reserve_room * sizeof(*(array))); \
                                                                                         \
		 if (reserve_more) {                                                     \
			 (array) = reserve_more;                                         \
			 (room) = (__typeof__(room))reserve_room;                        \
		 }                                                                       \
		 reserve_more != NULL;                                                   \
	 }))

#endif
