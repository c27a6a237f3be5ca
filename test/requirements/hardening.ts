// What holds against those who mean harm or do it by mistake: clients, and whoever shares the machine.
import { shown, type Requirements } from './requirement.ts';

const HARDENING = 'contract with users: nobody stops everybody';

export const hardeningRequirements: Requirements = {
  'contract.hardening.folder': shown(
    HARDENING,
    'Settings of the runtime and variables that lie in the working directory are not read.',
    'test/launcher-folder.test.ts: bunfig.toml, .env and tsconfig.json of the working directory are not read',
    'test/launcher-folder.test.ts: nor those around an installed package',
  ),
  'contract.hardening.modes': shown(
    HARDENING,
    'Loose modes of the data directory are mended with a word in the log; what is another user’s is refused.',
    'test/closed-path.test.ts: loose modes of a data directory are mended at the start',
    'test/closed-path.test.ts: what belongs to another user is refused',
  ),
  'contract.hardening.heads': shown(
    HARDENING,
    'A request without one usable `Host` is a 400; no error page shows a stack, and nothing prints a key.',
    'test/request-heads.test.ts: that is unusable is a 400',
    'test/request-heads.test.ts: that is there twice is a 400, also when both agree',
    'test/request-heads.test.ts: %# is answered plainly',
    'test/request-heads.test.ts: bytes that are no HTTP/1.1 are refused',
    'test/request-heads.test.ts: nothing that a client wrote into an address is printed',
  ),
  'contract.hardening.idle': shown(
    HARDENING,
    'A connection on which no answer is awaited is closed after the idle limit.',
    'test/idle-connections.test.ts: behind %s',
  ),
  'contract.hardening.memory': shown(
    HARDENING,
    'Bodies hold a bounded number of bytes per key and together, and arrive in bounded time: else 503 or 408.',
    'test/memory-budget.test.ts: a key may hold its share',
    'test/memory-budget.test.ts: all keys together may hold the budget',
    'test/memory-budget.test.ts: a body without a length counts as it arrives',
    'test/memory-budget.test.ts: every way out gives back what was held',
    'test/memory-budget.test.ts: a body that drips ends in a 408',
    'test/memory-budget.test.ts: a body that nobody was let in with is not kept',
  ),
  'contract.hardening.held': shown(
    HARDENING,
    'What is fetched, collected, held back or not read by its client counts for its key: else 503 or an error event.',
    'test/held-memory.test.ts: whole answers that are on their way count for their key',
    'test/held-memory.test.ts: streams that are held back count, and give back what they held',
    'test/held-memory.test.ts: what waits for clients who do not read counts',
    'test/held-memory.test.ts: a stream that is kept ends with a native error where there is no room for more of it',
    'test/held-memory.test.ts: a stream that nobody keeps may be of any length',
    'test/held-memory.test.ts: what is fetched for requests counts while they are answered',
    'test/held-memory.test.ts: files that are read for requests count while they are answered',
    'test/held-memory.test.ts: an answer under an idempotency key is given, but not kept where there is no room',
  ),
  'contract.hardening.sockets': shown(
    HARDENING,
    'WebSocket connections are limited per key and in total, their messages in length, and both in memory.',
    'test/socket-limits.test.ts: connections are limited per key and in total',
    'test/socket-limits.test.ts: a message over the limit closes the connection',
    'test/socket-limits.test.ts: messages count for the key while their turns run or wait',
  ),
  'contract.hardening.overload': shown(
    HARDENING,
    'A late event loop or short memory refuses new requests (503), turns `/readyz`, is logged, and ends by itself.',
    'test/overload.test.ts: a late event loop refuses new requests, tells who asks, and recovers',
    'test/overload.test.ts: short memory refuses large requests first',
    'test/overload.test.ts: the memory that there is, is that of the narrowest control group',
  ),
  'contract.hardening.refused-keys': shown(
    HARDENING,
    'Refused keys are slowed per address, counted and logged without the key; a right key never is.',
    'test/overload.test.ts: refused keys are slowed after twenty',
  ),
  'contract.hardening.systemd': shown(
    HARDENING,
    'The unit for systemd has the usual walls.',
    'test/systemd-unit.test.ts: has the walls that the documentation names',
  ),
  'contract.hardening.memory-return': shown(
    HARDENING,
    'Memory of a burst is given back within seconds of its end.',
    'test/memory-return.test.ts: what a burst left is collected when it is over',
    'test/memory-return.test.ts: what is let go later is collected, too',
    'test/memory-return.test.ts: a busy process is not stopped',
  ),
  'contract.hardening.attacks': shown(
    HARDENING,
    'Hostile clients, upstreams, MCP servers, models and pages make nobody wait, hold no memory, and learn nothing.',
    'test/hostile/hostile.test.ts: a hostile client',
    'test/hostile/hostile.test.ts: a hostile client and its bodies',
    'test/hostile/hostile.test.ts: a hostile client and its connections',
    'test/hostile/hostile.test.ts: a hostile upstream',
    'test/hostile/hostile.test.ts: a hostile MCP server',
    'test/hostile/hostile.test.ts: a hostile model',
    'test/hostile/hostile.test.ts: a hostile page',
  ),
  'contract.hardening.limits': shown(
    HARDENING,
    'The limits that docs/security.md promises are those of the code.',
    'test/security-limits.test.ts: the documented limit is enforced: %s',
  ),
};
