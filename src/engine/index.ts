export type { ApiCall, Client, ClientStream, Encoding } from './call.ts';
export { Gateway, type GatewayDependencies } from './gateway.ts';
export type { EngineSettings, Timeouts } from './settings.ts';
