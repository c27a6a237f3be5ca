// The limits that the histories are about.
import type { LimitEntry } from '../../../../src/accounts/limits/index.ts';

export interface Case {
  readonly entry: LimitEntry;
  /** In the units of the limit. */
  readonly amount: number;
  /** Most that a request uses. */
  readonly most: number;
  /** Milliseconds that count; Infinity for periods. */
  readonly windowMs: number;
}

export const CASES: readonly Case[] = [
  { entry: { requests: 40, per: 'day' }, amount: 40, most: 1, windowMs: Infinity },
  { entry: { usd: 0.000001, per: 'day' }, amount: 1000, most: 40, windowMs: Infinity },
  { entry: { usd: 0.0000005 }, amount: 500, most: 30, windowMs: Infinity },
  { entry: { tokens: 600 }, amount: 600, most: 50, windowMs: Infinity },
  { entry: { requests: 30, per: '3s' }, amount: 30, most: 1, windowMs: 3000 },
  { entry: { tokens: 400, per: 'second' }, amount: 400, most: 50, windowMs: 1000 },
  { entry: { concurrent: 12 }, amount: 12, most: 1, windowMs: 0 },
  { entry: { requests: 25, per: 'day', each: 'end_user' }, amount: 25, most: 1, windowMs: Infinity },
  { entry: { tokens: 300, per: '2s', each: 'end_user' }, amount: 300, most: 40, windowMs: 2000 },
];
/** Money in a window that rolls: of it the ledger knows what was used, and when that is free again. */
export const ROLLING_MONEY: Case = {
  entry: { usd: 0.0000006, per: '3s' },
  amount: 600,
  most: 40,
  windowMs: 3000,
};
export const isRollingMoney = (one: Case): boolean => one === ROLLING_MONEY;
/** Limits that roll, and that the ledger does not know: their users report them. */
export const RATES = CASES.filter(({ windowMs }) => windowMs > 0 && windowMs < Infinity);
export const MONEY = CASES.filter(({ entry }) => entry.usd !== undefined);
/** User whose requests those limits count that hold for each user. */
export const END_USER = 'a hash';
