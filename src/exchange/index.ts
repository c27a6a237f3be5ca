// What the processes of one installation tell each other.
export { type Bulletin, Listeners, type Topic } from './bulletin.ts';
export { TenantChanges } from './tenant-changes.ts';
