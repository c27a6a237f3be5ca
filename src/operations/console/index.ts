// The console's server side: its files, who is signed in, and the way from a session to the management API.
export { consoleVersion } from './assets.ts';
export { openConsole, type ConsoleDependencies } from './console.ts';
export { openSessionList } from './session-list.ts';
export { Sessions } from './sessions.ts';
