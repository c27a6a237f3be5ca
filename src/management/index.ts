// The management API: what an operator asks and changes over HTTP.
export { openManagement } from './api.ts';
export type { ManagementDependencies } from './dependencies.ts';
