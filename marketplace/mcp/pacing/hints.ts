// What a contributor declares about a method in `_meta.rateLimit`, as far as it paces calls. It was cleaned when the listing
// was read.
export type RateLimitHints = {
  // Calls that begin in any 60 s.
  maxRequestsPerMinute?: number | undefined;
  // The least time between the beginnings of two calls.
  cooldownMs?: number | undefined;
  // Calls in flight.
  maxConcurrency?: number | undefined;
};
