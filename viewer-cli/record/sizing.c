/* sizing.c -- computes the sizes of a recording's buffers, and the reasons for them. */
#include "record/sizing.h"

#include <inttypes.h>
#include <stdio.h>
#include <sys/statvfs.h>
#include <unistd.h>

enum { PAGE = 4096, MOST_EACH = 1 << 20, SHARES = 16, NS_PER_MS = 1000000 };

static const uint64_t least = 2 * PAGE, most = BSV_BUFFER_MOST;

const char *bsv_detail_name(enum bsv_detail detail)
{
	static const char *const names[] = {
		[BSV_DETAIL_FULL] = "full", [BSV_DETAIL_COMPACT] = "compact", [BSV_DETAIL_VERBOSE] = "verbose"
	};

	return names[detail];
}

static uint64_t power_of_two(uint64_t at_least)
{
	uint64_t size = least;

	while (size < at_least && size < most)
		size *= 2;
	return size;
}

/* Not of one piece: LTTng fills one while others are emptied. */
struct bsv_buffers bsv_buffers_of(uint64_t size)
{
	uint64_t whole = power_of_two(size), each = whole / SHARES;

	if (each < PAGE)
		each = PAGE;
	if (each > MOST_EACH)
		each = MOST_EACH;
	return (struct bsv_buffers){ .each = each, .n = whole / each };
}

struct bsv_machine bsv_machine_look(void)
{
	long cpus = sysconf(_SC_NPROCESSORS_CONF);
	struct statvfs shm;
	struct bsv_machine m = { .cpus = cpus > 0 ? (unsigned)cpus : 1, .memory = UINT64_MAX };
	FILE *f = fopen("/proc/meminfo", "re");
	uint64_t kib = 0;
	char line[128];

	/* memory that is available without taking it from other processes */
	while (f && !kib && fgets(line, sizeof(line), f))
		if (sscanf(line, "MemAvailable: %" SCNu64 " kB", &kib) != 1)
			kib = 0;
	if (f)
		fclose(f);
	if (kib)
		m.memory = kib * 1024;
	if (!statvfs("/dev/shm", &shm))
		m.shm = (uint64_t)shm.f_bavail * shm.f_frsize;
	return m;
}

uint64_t bsv_room(const struct bsv_machine *machine, unsigned users)
{
	uint64_t room = machine->shm < machine->memory ? machine->shm : machine->memory;

	return room / users / machine->cpus;
}

uint64_t bsv_size_for(enum bsv_detail detail, uint64_t rate)
{
	/* sizes for the busiest possible workload: docs/events.md, "Levels" */
	static const uint64_t usual[] = {
		[BSV_DETAIL_FULL] = 16 << 20, [BSV_DETAIL_COMPACT] = 8 << 20, [BSV_DETAIL_VERBOSE] = 32 << 20
	};
	uint64_t size = rate > most ? most : rate * BSV_LATENCY_MS / 1000;

	return power_of_two(size > usual[detail] ? size : usual[detail]);
}

static const double replaced = 1.25; /* the packet that is replaced next is lost as a whole */

uint64_t bsv_size_to_hold(enum bsv_detail detail, uint64_t rate, uint64_t ns)
{
	double held = (double)rate * (double)ns / 1e9 * replaced;
	uint64_t size = bsv_size_for(detail, rate);

	return held > (double)size ? power_of_two(held < (double)most ? (uint64_t)held : most) : size;
}

static uint64_t whole_number(double value)
{
	return value < 0x1p62 ? (uint64_t)value : UINT64_C(1) << 62;
}

uint64_t bsv_size_holds(uint64_t size, uint64_t rate)
{
	return whole_number((double)size / replaced / (double)rate * 1e9);
}

struct bsv_advice bsv_advise(uint64_t size, uint64_t rate, uint64_t lost_bytes)
{
	double needed = (double)size + (double)lost_bytes;

	return (struct bsv_advice){
		.rate = rate,
		.held_ns = rate ? whole_number((double)size / (double)rate * 1e9) : 0,
		.lost_bytes = lost_bytes,
		.stall_ns = rate ? whole_number(needed / (double)rate * 1e9) : 0,
		.size = power_of_two(whole_number(needed * 1.5) > 2 * size ? whole_number(needed * 1.5) : 2 * size),
	};
}

uint64_t bsv_bytes_of(uint64_t events, double each)
{
	return whole_number((double)events * each);
}

unsigned bsv_event_bytes(enum bsv_detail detail)
{
	return detail == BSV_DETAIL_COMPACT ? 120 : 40;
}
