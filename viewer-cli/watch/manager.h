/* manager.h -- notifies a service manager: sd_notify(3), without its library. */
#ifndef BSV_MANAGER_H
#define BSV_MANAGER_H

#include <stdint.h>

/* "READY=1", "STATUS=...", to $NOTIFY_SOCKET. Nothing happens without one. */
void bsv_manager_notify(const char *state);

/* How often "WATCHDOG=1" is expected at the least, in ns: half of $WATCHDOG_USEC; 0: never. */
uint64_t bsv_manager_watchdog(void);

#endif
