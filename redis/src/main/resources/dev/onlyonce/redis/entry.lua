-- What all scripts for entries share. KEYS[i] is the entry of item i, '<prefix>:{<partition>}:e:<id>'. In a cluster, the keys of the
-- partition's indexes follow: a script uses no key that it does not name. ARGV[1] is how many audit records a partition keeps, the
-- arguments of the items follow.
local PENDING, PROCESSING, COMPLETED, FAILED, RETRYABLE, UNKNOWN, EXPIRED = 1, 2, 3, 4, 5, 6, 7

-- Format 1: format, state, flags, attempt, token; created, leased until, settled, expires (0: none); lease policy and lease,
-- retention, tombstone in ms; fingerprint; operation, owner; the result to the end. StoredEntry.java reads the same.
-- Format 2 has the target between owner and result. An entry without a target keeps format 1, which older releases read.
local LAYOUT = '>BBBI4c16ddddBdddc36I2c0I2c0'
local TARGET = '>I2c0'
local HAS_TOKEN, HAS_RESULT = 1, 2

-- Native expiry only frees the memory that no purge came for: a node's purge is due long before.
local GRACE_MS = 86400000

-- How many bytes a call answers; the items after that are left for the next call.
local ANSWER_BYTES = 4194304

local time = now()
local call, pack, unpacked, sub = redis.call, struct.pack, struct.unpack, string.sub

-- Does the items one by one and answers for each. An item that fails is answered with its error and fails no other. Every item writes
-- its entry last, so one that fails has changed nothing but indexes, and those are corrected when they are used.
local function answer(width, item)
  local answers = { time }
  local room = ANSWER_BYTES
  for i = 1, (#ARGV - 1) / width do
    local key = KEYS[i]
    local at = string.find(key, '}:e:', 1, true)
    local ok, found = pcall(item, key, sub(key, 1, at + 1), sub(key, at + 4), 2 + (i - 1) * width)
    if not ok then
      found = { 'failed', type(found) == 'table' and found.err or tostring(found) }
    elseif type(found) == 'string' then
      room = room - #found
    end
    answers[i + 1] = found
    if room < 0 then
      break
    end
  end
  return answers
end

local function read(key)
  local raw = call('GET', key)
  if not raw then
    return nil
  end
  local format = string.byte(raw, 1)
  if format ~= 1 and format ~= 2 then
    error('ONLYONCEFORMAT an entry was written by a newer release')
  end
  local e, _, flags, token, rest = { raw = raw }, nil, nil, nil, nil
  _, e.state, flags, e.attempt, token, e.created, e.lease, e.settled, e.expires, e.onlost, e.leasems, e.retentionms, e.tombstonems,
    e.print, e.operation, e.owner, rest = unpacked(LAYOUT, raw)
  if format == 2 then
    e.target, rest = unpacked(TARGET, raw, rest)
  end
  if flags % 2 == 1 then
    e.token = token
  end
  if flags >= HAS_RESULT then
    e.result = sub(raw, rest)
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

local function write(key, e)
  local flags = (e.token and HAS_TOKEN or 0) + (e.result and HAS_RESULT or 0)
  local raw = pack(LAYOUT, e.target and 2 or 1, e.state, flags, e.attempt, e.token or string.rep('\0', 16), e.created, e.lease, e.settled,
    e.expires, e.onlost, e.leasems, e.retentionms, e.tombstonems, e.print, #e.operation, e.operation, #e.owner, e.owner)
  if e.target then
    raw = raw .. pack(TARGET, #e.target, e.target)
  end
  if e.result then
    raw = raw .. e.result
  end
  local last = ending(e)
  if last then
    call('SET', key, raw, 'PX', string.format('%.0f', math.max(0, math.floor((last - time) / 1000)) + GRACE_MS))
  else
    call('SET', key, raw)
  end
end

local function gone(e)
  local last = ending(e)
  return last ~= nil and last <= time
end

-- The entry, unless it is past its retention and tombstone.
local function live(key)
  local e = read(key)
  if e and gone(e) then
    return nil
  end
  return e
end

local function answered(state)
  return state == COMPLETED or state == FAILED
end

-- The state as readers see it; 0 for no entry.
local function shown(e)
  if not e then
    return 0
  end
  return (answered(e.state) and e.expires <= time) and EXPIRED or e.state
end

local function record(base, member, e, from, to, who, why)
  call('XADD', base .. 'audit', 'MAXLEN', '~', ARGV[1], '*', 'r', pack('>BBI4dI2c0I2c0I2c0I2c0', from, to, e.attempt, time,
    #member, member, #e.operation, e.operation, #who, who, #why, why))
end

-- Ends a claim, an abandoned entry or a doubt; the caller has checked that the state allows it. The first change needs no memory, so
-- that a server without any takes settlements.
local function settle(key, base, member, e, to, result, who, why)
  local from = e.state
  call('ZREM', base .. (from == UNKNOWN and 'unknown' or 'leases'), member)
  e.state, e.result, e.settled, e.expires = to, result, time, 0
  if to == UNKNOWN then
    call('ZADD', base .. 'unknown', 0, member)
  else
    e.expires = time + e.retentionms * 1000
    call('ZADD', base .. 'expiries', e.expires, member)
  end
  record(base, member, e, from, to, who, why)
  write(key, e)
end

local function settled(e)
  return { 1, e.settled, e.expires }
end

local function lost(e)
  return { 0, shown(e) }
end
