// The configuration: read, checked, made into immutable snapshots, watched.
export { readCertificate } from './certificate.ts';
export type { CertificateFiles, CertificatePair } from './certificate.ts';
export { checkWishes } from './check-routing-names.ts';
export { ConfigError } from './config-error.ts';
export type { Config, KeyConfig, Timeouts } from './config.ts';
export { readEnvironment } from './environment.ts';
export type { Environment } from './environment.ts';
export { configPath, loadConfig, portOf } from './load.ts';
export type { Flags, LoadInput, LoadedConfig } from './load.ts';
export { formatQuirks, parseQuirks } from './quirks-schema.ts';
export { configJsonSchema, configSchemaNode } from './schema.ts';
export { schemaNode } from './schema-node.ts';
export type { SchemaNode } from './schema-node.ts';
export { formatRouting, parseRouting } from './routing-text.ts';
export { buildSnapshot, knownProviders } from './snapshot.ts';
export type { Snapshot, SnapshotInput } from './snapshot.ts';
export { watchConfig } from './watch.ts';
export type { Watched, WatchInput } from './watch.ts';
