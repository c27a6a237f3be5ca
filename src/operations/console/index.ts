// Server side of the console: files, sessions, and forwarding to the management API.
export { consoleVersion } from './assets.ts';
export { openConsole, type ConsoleDependencies } from './console.ts';
export { openSessionList } from './session-list.ts';
export { Sessions } from './sessions.ts';
