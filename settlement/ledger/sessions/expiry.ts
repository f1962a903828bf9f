// When a session is over, in SQL: the rule of `statusAt`. From `expires_at` on it has expired, whether or not a sweep has
// written that down: it takes no holds any more, and to close it leaves it expired.
export const isOpenAt = (now: string) => `status = 'open' AND expires_at > ${now}`;
export const hasExpiredAt = (now: string) => `status = 'open' AND expires_at <= ${now}`;
