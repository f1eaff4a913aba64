-- How many leases have lapsed, and how many entries are to be purged.
local time = now()
return { time, redis.call('ZCOUNT', LEASES, '-inf', time), redis.call('ZCOUNT', EXPIRIES, '-inf', time) }
