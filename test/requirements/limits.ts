// Limits and budgets: what counts them is here, and is shown by itself; what asks it before a request is not.
import { HOLDING, later, type Requirements } from './requirement.ts';

const LIMITS = 'limits and budgets';
const T_LIMITS = 'test/limits.test.ts';
const WINDOWS = 'test/limits-windows.test.ts';
const CONSERVATION = 'test/limits-conservation.test.ts';
const RESTORE = 'test/limits-restore.test.ts';
const STORE = 'test/counter-store-contract.ts';

export const limitsRequirements: Requirements = {
  'contract.limits.windows': later(
    LIMITS,
    HOLDING,
    'Days, weeks and months begin in their time zone, also where clocks change; rates are rolling and have no edge.',
    `${WINDOWS}: %s in %s at %s`,
    `${WINDOWS}: gives each unit back one window after it was taken`,
    `${T_LIMITS}: accepts its limit in a minute of hammering, with no second burst at an edge`,
  ),
  'contract.limits.budget': later(
    LIMITS,
    HOLDING,
    'A budget is reserved before an answer, compared while it streams, and charged once with what it cost.',
    `${T_LIMITS}: is reserved by running requests, and charged with what they cost`,
    `${T_LIMITS}: stops a running answer when what it costs is more than is left`,
    `${T_LIMITS}: lets running answers end where it says so`,
    `${T_LIMITS}: refuses what has no price, unless it may pass uncounted`,
  ),
  'contract.limits.refusal': later(
    LIMITS,
    HOLDING,
    'A refusal names the limit, whose it is, how much of it is used, and when it frees.',
    `${T_LIMITS}: a refusal names the limit, whose it is, how much is used, and when it frees`,
    `${T_LIMITS}: the one is told that lasts longest`,
  ),
  'contract.limits.conservation': later(
    LIMITS,
    HOLDING,
    'Whatever happens in whatever order, no more is spent than a limit and its bound, and nothing stays reserved.',
    `${CONSERVATION}: with requests, failures, crashes and reloads in any order`,
    `${CONSERVATION}: with clocks that jump as well`,
    `${T_LIMITS}: a reservation that nobody settles is charged at its expiry`,
  ),
  'contract.limits.end-users': later(
    LIMITS,
    HOLDING,
    'End users are counted each for themselves, in bounded memory that errs towards refusing.',
    `${T_LIMITS}: has a count of its own, and those who are not named share one`,
    `${T_LIMITS}: is not forgotten for the better when there are too many`,
  ),
  'contract.limits.ledger': later(
    LIMITS,
    HOLDING,
    'The ledger is the truth: counters are set from its sums, never added to.',
    `${RESTORE}: a start sets budgets, daily limits and rolling ones`,
    `${RESTORE}: what runs and what was settled meanwhile is counted once`,
    `${STORE}: is set, never added: what the living have settled is part of it`,
  ),
  'contract.limits.leases': later(
    LIMITS,
    HOLDING,
    'The ceilings that processes lease of a limit never exceed it together, whoever dies.',
    `${STORE}: whatever happens in whatever order, the ceilings of the living never exceed the limit`,
    `${STORE}: a holder that does not renew its lease`,
    `${STORE}: replaces what a dead process may have used`,
  ),
};
