// Entry point of the management API for the rest of the program.
export { MANAGEMENT, openManagement } from './api.ts';
export type { ManagementDependencies, SessionAdministration, SessionView } from './dependencies.ts';
export type { Route } from './route.ts';
export { ROUTES } from './routes/index.ts';
export { RefusedSignIns } from './refused-sign-ins.ts';
