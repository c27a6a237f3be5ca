import type { NewJob } from '../../../src/accounts/ports/index.ts';

/** A job of priority 1 without lane, home and expiry. */
export function newJob(kind: string): NewJob {
  return {
    id: 'a',
    kind,
    projectId: 'project_a',
    keyId: 'key_a',
    priority: 1,
    lane: null,
    home: null,
    payload: '{}',
    expiresAt: null,
  };
}
