/* student.h -- Student's t distribution. */
#ifndef BSV_STATS_STUDENT_H
#define BSV_STATS_STUDENT_H

/* The probability of a t larger than @t; @freedom above 0, INFINITY: the normal distribution. */
double bsv_student_tail(double t, double freedom);

/* The t that is exceeded with probability @p, 0 to 0.5. INFINITY where @p is 0. */
double bsv_student_quantile(double p, double freedom);

#endif
