// Entries of the audit log for tests that change keys and projects, and are about something else.
import { newId } from '../../../src/base/runtime/ids.ts';
import type { AuditEntry } from '../../../src/accounts/ports/index.ts';

/** Entry of the log for a change. */
export function entryOf(change: Pick<AuditEntry, 'action' | 'target' | 'before' | 'after'>): AuditEntry {
  const actor = { id: 'operator', name: 'a test', address: null };
  return { ...change, id: newId('audit_'), createdAt: 0, actor, requestId: null };
}

/** Some entry. */
export function someEntry(): AuditEntry {
  return entryOf({ action: 'key.change', target: 'key_1', before: null, after: null });
}
