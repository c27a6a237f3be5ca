// Keys and entries of the audit log, as contract suites store them.
import type { AuditEntry, StoredKey } from '../../../src/accounts/ports/index.ts';

export const KEY: StoredKey = {
  id: 'key_1',
  name: 'laptop',
  hash: 'aa',
  hint: 'sk…1234',
  createdAt: 1,
  expiresAt: null,
  revokedAt: null,
  models: ['openai/*'],
  logContent: true,
  strict: true,
  onDisconnect: 'continue',
  routing: { only: ['openai'], max_price: { prompt: 3 } },
  projectId: 'search',
  roles: ['models', 'admin'],
  limits: [{ requests: 60, per: 'minute', models: ['openai/*'] }],
  budgets: [{ usd: 5, per: 'day' }],
  previous: { hash: 'bb', until: 9 },
  updatedAt: 2,
  version: 3,
};

export const entry = (n: number): AuditEntry => ({
  id: `audit_${n}`,
  createdAt: n,
  actor: { id: n % 2 ? 'key_a' : 'key_b', name: 'somebody', address: null },
  action: 'key.create',
  target: `key_${n}`,
  requestId: null,
  before: null,
  after: { n },
});
