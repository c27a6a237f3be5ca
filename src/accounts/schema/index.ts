// Schemas for keys, projects and limits, shared by the configuration file and the management API.
export { budgetsSchema, limitsSchema, projectNameSchema, projectsSchema } from './limits-schema.ts';
export { routingDefaultsSchema } from './routing-defaults-schema.ts';
