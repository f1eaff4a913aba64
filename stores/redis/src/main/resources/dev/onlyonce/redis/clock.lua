-- Microseconds since 1970 by the server's clock. Scripts are replicated by their effects, so replicas agree on it.
local function now()
  local time = redis.call('TIME')
  return time[1] * 1000000 + time[2]
end
