/*
 * command_line.h -- hides the command line of this process from /proc.
 *
 * Every user may read /proc/PID/cmdline. For each read, the kernel locks the memory map of the process (mmap_lock), and
 * while readers that have no cpu hold that lock, no thread of the process can map a pool. If the arguments are empty,
 * the kernel reads nothing and takes no lock.
 */
#ifndef NNB_SERVICE_COMMAND_LINE_H
#define NNB_SERVICE_COMMAND_LINE_H

/*
 * Tell the kernel that this process has no arguments; argv itself stays as it is. Needs no privilege. No memory may be
 * allocated meanwhile. 0 or -errno. -EPERM or -EINVAL: the kernel does not let a process change its map
 * (CONFIG_CHECKPOINT_RESTORE). -EBUSY: the process has several threads. -ENODATA: /proc/self/stat lacks a field.
 */
int command_line_hide(void);

#endif
