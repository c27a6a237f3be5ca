// Schemas of what an operator says of keys and projects, in the configuration file and over the management API.
export { budgetsSchema, limitsSchema, projectNameSchema, projectsSchema } from './limits-schema.ts';
export { routingDefaultsSchema } from './routing-defaults-schema.ts';
