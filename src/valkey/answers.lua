-- Answers under idempotency keys: what src/exchange/memory-answer-store.ts does in memory, here for all processes.
-- KEYS[1] begins the names of all keys. ARGV: operation, milliseconds of a lease, of a failed answer and of a listener, most
-- frames of a reply, then what is said. All names and frames are opaque texts.
local prefix = KEYS[1]
local operation, leaseMs, failedMs, heardMs = ARGV[1], ARGV[2], ARGV[3], tonumber(ARGV[4])
local mostFrames = tonumber(ARGV[5])
local at = 5

local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)

local function take()
  at = at + 1
  return ARGV[at]
end
local function takeNumber() return tonumber(take()) end

local function keyOf(name) return prefix .. 'a:' .. name end
local function framesOf(name, run, telling) return prefix .. 'f:' .. name .. ':' .. run .. ':' .. telling end
local function failedOf(name, run) return prefix .. 'e:' .. name .. ':' .. run end

-- Complete answers in the order in which they expire, and what they weigh together.
local order, weight = prefix .. 'ao', prefix .. 'aw'
local function drop(member)
  redis.call('ZREM', order, member)
  local chars, name, run, telling = string.match(member, '^(%d+) (%S+) (%S+) (%S+)$')
  redis.call('DECRBY', weight, chars)
  if redis.call('HGET', keyOf(name), 'run') == run then redis.call('DEL', keyOf(name)) end
  redis.call('DEL', framesOf(name, run, telling))
end

local function keep(name, run, telling, chars, keepsMs, mostChars)
  for _, member in ipairs(redis.call('ZRANGEBYSCORE', order, '-inf', now)) do drop(member) end
  redis.call('ZADD', order, now + keepsMs, chars .. ' ' .. name .. ' ' .. run .. ' ' .. telling)
  redis.call('INCRBY', weight, chars)
  while tonumber(redis.call('GET', weight)) > mostChars do
    local member = redis.call('ZRANGE', order, 0, 0)[1]
    if not member then redis.call('SET', weight, 0) break end
    drop(member)
  end
  for _, key in ipairs({ order, weight }) do redis.call('PEXPIRE', key, keepsMs * 2 + 60000) end
end

local operations = {}

function operations.claim()
  local name, fingerprint, run = take(), take(), take()
  local key = keyOf(name)
  local known = redis.call('HMGET', key, 'fingerprint', 'run', 'state')
  if not known[1] then
    redis.call('HSET', key, 'fingerprint', fingerprint, 'run', run, 'telling', '0', 'state', 'running')
    redis.call('PEXPIRE', key, leaseMs)
    return { 'mine' }
  end
  if known[1] ~= fingerprint then return { 'conflict' } end
  if known[3] == 'large' then return { 'large' } end
  redis.call('HSET', key, 'heard', now)
  return { 'theirs', known[2] }
end

local function hear()
  local name, fingerprint, run, telling, told, state = take(), take(), take(), take(), takeNumber(), take()
  local keepsMs, mostChars, count = takeNumber(), takeNumber(), takeNumber()
  local first = at
  at = at + count
  local key, frames = keyOf(name), framesOf(name, run, telling)
  local known = redis.call('HMGET', key, 'run', 'telling', 'heard', 'state')
  if known[1] and known[1] ~= run then return 'lost' end
  if not known[1] or known[2] ~= telling then
    if told > 0 then return 'again' end
    if known[1] then redis.call('DEL', framesOf(name, run, known[2])) end
    redis.call('HSET', key, 'fingerprint', fingerprint, 'run', run, 'telling', telling)
  end
  local length = redis.call('LLEN', frames)
  if length < told then return 'again' end
  -- Those that were told already are told again where the reply was lost.
  for each = first + 1 + length - told, first + count do redis.call('RPUSH', frames, ARGV[each]) end
  if state == 'failed' then
    redis.call('DEL', key)
    redis.call('SET', failedOf(name, run), telling, 'PX', failedMs)
    redis.call('PEXPIRE', frames, failedMs)
  else
    redis.call('HSET', key, 'state', state)
    local forMs = state == 'complete' and keepsMs or leaseMs
    redis.call('PEXPIRE', key, forMs)
    redis.call('PEXPIRE', frames, forMs)
    if state == 'complete' and known[4] ~= 'complete' then
      local chars = 0
      for _, frame in ipairs(redis.call('LRANGE', frames, 0, -1)) do chars = chars + #frame end
      keep(name, run, telling, chars, keepsMs, mostChars)
    end
  end
  return now - (tonumber(known[3] or '') or -heardMs) < heardMs and 'heard' or 'unheard'
end

local function tell()
  local name, run, telling, from = take(), take(), take(), takeNumber()
  local key = keyOf(name)
  local known = redis.call('HMGET', key, 'run', 'telling', 'state')
  local isTold, state = known[2], known[3]
  if known[1] == run then
    redis.call('HSET', key, 'heard', now)
  else
    isTold, state = redis.call('GET', failedOf(name, run)), 'failed'
    if not isTold then return { 'gone', telling, 0 } end
  end
  if isTold ~= telling then from = 0 end
  local frames = framesOf(name, run, isTold)
  local answer = redis.call('LRANGE', frames, from, from + mostFrames - 1)
  return { state, isTold, redis.call('LLEN', frames), unpack(answer) }
end

function operations.exchange()
  local heard, told = {}, {}
  for each = 1, takeNumber() do heard[each] = hear() end
  for each = 1, takeNumber() do told[each] = tell() end
  return { heard, told }
end

return operations[operation]()
