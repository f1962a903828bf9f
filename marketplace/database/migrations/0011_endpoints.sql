-- Whether somebody else offers an address already is asked with each registration.
CREATE INDEX listings_by_endpoint ON listings (endpoint);
