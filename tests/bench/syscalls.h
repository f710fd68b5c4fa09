/*
 * syscalls.h -- counting the system calls of two processes while one of them runs between two marks.
 *
 * Both must be children of ours. Every thread that they have is traced (ptrace(2)): what a thread does in user space
 * costs nothing by it.
 */
#ifndef SYSCALLS_H
#define SYSCALLS_H

#include <sys/types.h>

/* In the process that is traced: a system call that no other code makes. */
void syscalls_mark(void);

/*
 * Trace @marker and @other, call @go, and count what either asks of the kernel from @marker's first mark to its second.
 * -1: this machine does not let us trace; then @go has been called all the same.
 */
long syscalls_between_marks(pid_t marker, pid_t other, void (*go)(void *arg), void *arg);

#endif
