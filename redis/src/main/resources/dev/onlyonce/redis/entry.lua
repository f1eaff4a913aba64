-- What all scripts share. KEYS[1] is the base of the partition's keys, ARGV[1] how many audit records a partition keeps. All keys of
-- a partition have its hash tag, so each script works on one slot and is atomic.
local BASE = KEYS[1]
local ENTRY = BASE .. 'e:'         -- and the id: the entry
local IDS = BASE .. 'ids'          -- all ids, in their order
local LEASES = BASE .. 'leases'    -- pending and processing entries by the end of their lease
local EXPIRIES = BASE .. 'expiries' -- purgeable entries by the time of their next purge
local UNKNOWNS = BASE .. 'unknown' -- ids of unknown entries, in their order
local AUDIT = BASE .. 'audit'      -- a stream

local PENDING, PROCESSING, COMPLETED, FAILED, RETRYABLE, UNKNOWN, EXPIRED = 1, 2, 3, 4, 5, 6, 7

-- Format 1: format, state, flags, attempt, token; created, leased until, settled, expires (0: none); lease policy and lease,
-- retention, tombstone in ms; fingerprint; operation, owner; the result to the end. StoredEntry.java reads the same.
-- Format 2 has the target between owner and result. An entry without a target keeps format 1, which older releases read.
local LAYOUT = '>BBBI4c16ddddBdddc36I2c0I2c0'
local TARGET = '>I2c0'
local HAS_TOKEN, HAS_RESULT = 1, 2

-- Native expiry only frees the memory that no purge came for: a node's purge is due long before.
local GRACE_MS = 86400000

local function read(key)
  local raw = redis.call('GET', key)
  if not raw then
    return nil
  end
  local format = string.byte(raw, 1)
  if format ~= 1 and format ~= 2 then
    error('ONLYONCEFORMAT an entry was written by a newer release')
  end
  local e, _, flags, token, rest = { raw = raw }, nil, nil, nil, nil
  _, e.state, flags, e.attempt, token, e.created, e.lease, e.settled, e.expires, e.onlost, e.leasems, e.retentionms, e.tombstonems,
    e.print, e.operation, e.owner, rest = struct.unpack(LAYOUT, raw)
  if format == 2 then
    e.target, rest = struct.unpack(TARGET, raw, rest)
  end
  if flags % 2 == 1 then
    e.token = token
  end
  if flags >= HAS_RESULT then
    e.result = string.sub(raw, rest)
  end
  return e
end

-- When nothing is left of the entry; nil if it does not expire.
local function ending(e)
  if e.expires == 0 then
    return nil
  end
  return e.state == RETRYABLE and e.expires or e.expires + e.tombstonems * 1000
end

local function write(key, e, time)
  local flags = (e.token and HAS_TOKEN or 0) + (e.result and HAS_RESULT or 0)
  local raw = struct.pack(LAYOUT, e.target and 2 or 1, e.state, flags, e.attempt, e.token or string.rep('\0', 16), e.created, e.lease, e.settled,
    e.expires, e.onlost, e.leasems, e.retentionms, e.tombstonems, e.print, #e.operation, e.operation, #e.owner, e.owner)
  if e.target then
    raw = raw .. struct.pack(TARGET, #e.target, e.target)
  end
  if e.result then
    raw = raw .. e.result
  end
  local last = ending(e)
  if last then
    redis.call('SET', key, raw, 'PX', string.format('%.0f', math.max(0, math.floor((last - time) / 1000)) + GRACE_MS))
  else
    redis.call('SET', key, raw)
  end
end

local function gone(e, time)
  local last = ending(e)
  return last ~= nil and last <= time
end

-- The entry, unless it is past its retention and tombstone.
local function live(key, time)
  local e = read(key)
  if e and gone(e, time) then
    return nil
  end
  return e
end

local function answered(state)
  return state == COMPLETED or state == FAILED
end

-- The state as readers see it; 0 for no entry.
local function shown(e, time)
  if not e then
    return 0
  end
  return (answered(e.state) and e.expires <= time) and EXPIRED or e.state
end

local function record(member, e, from, to, who, why, time)
  redis.call('XADD', AUDIT, 'MAXLEN', '~', ARGV[1], '*', 'r', struct.pack('>BBI4dI2c0I2c0I2c0I2c0', from, to, e.attempt, time,
    #member, member, #e.operation, e.operation, #who, who, #why, why))
end

-- Ends a claim, an abandoned entry or a doubt; the caller has checked that the state allows it.
local function settle(member, e, to, result, time)
  if e.state == UNKNOWN then
    redis.call('ZREM', UNKNOWNS, member)
  else
    redis.call('ZREM', LEASES, member)
  end
  e.state, e.result, e.settled, e.expires = to, result, time, 0
  if to == UNKNOWN then
    redis.call('ZADD', UNKNOWNS, 0, member)
  else
    e.expires = time + e.retentionms * 1000
    redis.call('ZADD', EXPIRIES, e.expires, member)
  end
  write(ENTRY .. member, e, time)
end

local function settled(e)
  return { 1, e.settled, e.expires }
end

local function lost(e, time)
  return { 0, shown(e, time) }
end
