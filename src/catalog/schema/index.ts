// Schemas of endpoint settings, and descriptions of violations. Loads zod, which the catalog's own index does not.
export { describeIssues, formatPath } from './describe-issues.ts';
export { inProgram, orNull, secret, secretOrEmpty } from './in-program.ts';
export { priceSchema } from './price-schema.ts';
export { formatQuirks, parseQuirks, quirksSchema } from './quirks-schema.ts';
export { schemaAt, type SchemaNode, schemaNode } from './schema-node.ts';
