/* student.c -- Student's t distribution from the incomplete beta function. */
#include "stats/student.h"

#include <math.h>

/*
 * The continued fraction of the incomplete beta function, by Lentz's method. It converges fast for
 * x < (a + 1) / (a + b + 2).
 */
static double beta_fraction(double a, double b, double x)
{
	const double tiny = 1e-300;
	double c = 1, d = 1 - (a + b) * x / (a + 1), ret;

	d = 1 / (fabs(d) < tiny ? tiny : d);
	ret = d;
	for (int m = 1; m < 500; m++) {
		double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
		double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)), step;

		d = 1 + even * d;
		c = 1 + even / c;
		d = 1 / (fabs(d) < tiny ? tiny : d);
		c = fabs(c) < tiny ? tiny : c;
		ret *= c * d;
		d = 1 + odd * d;
		c = 1 + odd / c;
		d = 1 / (fabs(d) < tiny ? tiny : d);
		c = fabs(c) < tiny ? tiny : c;
		step = c * d;
		ret *= step;
		if (fabs(step - 1) < 1e-14)
			break;
	}
	return ret;
}

static double log_gamma(double x)
{
	int sign;

	return lgamma_r(x, &sign); /* lgamma() writes a global variable */
}

/* The regularised incomplete beta function. */
static double beta_regular(double a, double b, double x)
{
	double front;

	if (x <= 0 || x >= 1)
		return x <= 0 ? 0 : 1;
	front = exp(log_gamma(a + b) - log_gamma(a) - log_gamma(b) + a * log(x) + b * log1p(-x));
	if (x < (a + 1) / (a + b + 2))
		return front * beta_fraction(a, b, x) / a;
	return 1 - front * beta_fraction(b, a, 1 - x) / b;
}

double bsv_student_tail(double t, double freedom)
{
	double half;

	if (isinf(freedom) || freedom > 1e7)
		return 0.5 * erfc(t / sqrt(2));
	if (isinf(t))
		return t > 0 ? 0 : 1;
	half = 0.5 * beta_regular(freedom / 2, 0.5, freedom / (freedom + t * t));
	return t >= 0 ? half : 1 - half;
}

double bsv_student_quantile(double p, double freedom)
{
	double low = 0, high = 1;

	if (p <= 0)
		return INFINITY;
	while (bsv_student_tail(high, freedom) > p && high < 1e300)
		high *= 2;
	for (int i = 0; i < 200 && high - low > 1e-12 * high; i++) {
		double mid = (low + high) / 2;

		if (bsv_student_tail(mid, freedom) > p)
			low = mid;
		else
			high = mid;
	}
	return (low + high) / 2;
}
