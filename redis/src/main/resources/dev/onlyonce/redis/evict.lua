-- Member, who, reason. Answers operation, state and attempt of the entry that was deleted; nothing if there was none to delete.
local time = now()
local member, who, why = unpack(ARGV, 2, 4)
local e = live(ENTRY .. member, time)
if not e or e.state == PENDING or e.state == PROCESSING or e.state == UNKNOWN then
  return { time, {} }
end
redis.call('DEL', ENTRY .. member)
redis.call('ZREM', EXPIRIES, member)
redis.call('ZREM', IDS, member)
record(member, e, e.state, 0, who, why, time)
return { time, { e.operation, shown(e, time), e.attempt } }
