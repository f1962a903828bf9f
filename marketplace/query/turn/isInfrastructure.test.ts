import { expect, it } from "vitest";
import { isInfrastructure } from "./isInfrastructure.ts";

it.each([
  "HTTP 429",
  "Request failed with status code 503",
  "upstream error: 502 Bad Gateway",
  "the request timed out",
  "Timeout after 30000ms",
  "connection timeout",
  "You exceeded your current quota, please check your plan",
  "daily quota exceeded",
  "Invalid API key provided",
  "missing api_key",
  "rate limit reached for this project",
  "Too Many Requests",
  "401 Unauthorized",
  "Service temporarily unavailable, try again later",
  "connect ECONNREFUSED 10.0.0.1:443",
])("%s is no mistake of the arguments", (message) => {
  expect(isInfrastructure(message)).toBe(true);
});

it.each([
  "number must be an integer",
  "there is no parcel 503",
  "no results for 429",
  "timeout must be at most 60",
  "invalid token address",
  "unknown key weight",
  "quota must be a number",
])("%s is one", (message) => {
  expect(isInfrastructure(message)).toBe(false);
});
