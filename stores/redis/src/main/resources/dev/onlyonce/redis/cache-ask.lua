-- KEYS[1] is a cached entry. Answers its sealed bytes, or notes for ARGV[1] milliseconds that the caller asks the store, so that others
-- wait: '?' if somebody else does, nothing if the caller is to ask. No node reads more than an entry ever has.
local found = redis.call('GETRANGE', KEYS[1], 0, 2097151)
if found == '' then
  redis.call('SET', KEYS[1], '?', 'PX', ARGV[1])
  return false
end
return found
