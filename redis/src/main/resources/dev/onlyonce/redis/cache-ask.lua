-- Reads a cached entry. If there is none, notes for a moment that the caller asks the store,
-- so that others wait for its answer instead of asking as well.
--
-- KEYS[1]  the entry's key
-- ARGV[1]  how long the note holds, in milliseconds
-- Returns the sealed entry, '?' if somebody else asks the store, or nothing if the caller is to ask.
local found = redis.call('GET', KEYS[1])
if not found then
  redis.call('SET', KEYS[1], '?', 'PX', ARGV[1])
end
return found
