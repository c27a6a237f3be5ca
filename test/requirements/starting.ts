// How the program is started, what a start leaves behind, and how its socket is opened.
import { shown, type Requirements } from './requirement.ts';

const CONTRACT = 'contract with operators: starting';
const TLS = 'test/socket/server/server-tls.test.ts';
const PROCESS = 'test/packaging/launcher-process.test.ts';
const WORKERS = 'test/socket/cluster/worker-program.test.ts';
const SUPERVISOR = 'test/unit/cluster/supervisor.test.ts';

export const startingRequirements: Requirements = {
  'contract.starting.options': shown(
    CONTRACT,
    '`npm start -- --port 4001` passes its options, and ends as the program ends.',
    `${PROCESS}: \`npm start\` passes its options on, and nothing but npm itself stays beside the runtime`,
    `${PROCESS}: \`npm start\` ends as the program ended`,
  ),
  'contract.starting.commands': shown(
    CONTRACT,
    'The command line helps, completes, names the nearest word for a mistyped one, and shows all faults of a configuration with their lines.',
    'test/socket/app/command-line.test.ts: --version prints the version',
    'test/socket/app/command-line.test.ts: of one command has a line for each of its actions and options',
    'test/socket/app/command-line.test.ts: a word that is mistyped is answered with the nearest one, in a form that works here',
    'test/socket/app/command-line.test.ts: knows commands, actions and options in bash',
    'test/socket/app/command-line.test.ts: a reader that leaves ends a command in silence',
    'test/socket/app/command-line.test.ts: doctor says on a fresh install what to do',
    'test/socket/app/command-line.test.ts: shows all of them, each with its file and line',
    'test/socket/app/command-line.test.ts: also those that no schema sees, and those of its form',
  ),
  'contract.starting.alone': shown(
    CONTRACT,
    'No launcher stays in memory where the system allows it; every way of starting starts the same thing.',
    `${PROCESS}: the launcher for shells becomes the runtime, and a signal to it drains`,
    `${PROCESS}: under a Node that can become another program, no launcher stays either`,
    `${PROCESS}: both launchers find and start the same runtime: %s`,
    `${PROCESS}: without a runtime the launchers say what to do`,
  ),
  'contract.starting.installs': shown(
    CONTRACT,
    '`npm start` and `npm test` install what the lock file names where nothing is installed, and say so; no other command does.',
    `${PROCESS}: \`npm start\` installs the locked packages where there are none, and says so on standard error`,
    `${PROCESS}: an install that fails ends the start as npm ended, and other commands install nothing`,
  ),
  'contract.starting.packed': shown(
    CONTRACT,
    'What `npm install` packs is started while it is newer than all that it was made of, and does all that the sources do.',
    'test/packaging/packed.test.ts: takes the packed program while it is newer than all that it was made of',
    'test/packaging/packed.test.ts: takes the executable where there is one that may be run, as current as the script',
    'test/packaging/packed.test.ts: %s finds its programs, tables and packages: reads a PDF, counts tokens, asks an MCP server',
  ),
  'contract.starting.workers': shown(
    CONTRACT,
    'With `--workers N` so many processes serve one port as one gateway: limits, records and metrics are of all together.',
    `${WORKERS}: all serve, and their metrics and records are on one page`,
    `${WORKERS}: a limit is one limit for all of them together`,
  ),
  'contract.starting.replacing': shown(
    CONTRACT,
    'A worker that dies is replaced, and SIGUSR2 replaces all of them: new ones listen before old ones drain.',
    `${WORKERS}: one that is killed is replaced, and the others go on`,
    `${WORKERS}: SIGUSR2 replaces all of them, and cuts no answer`,
    `${SUPERVISOR}: has each new one listen before an old one leaves, one after another`,
    `${SUPERVISOR}: whose new worker does not come up leaves the old ones as they are`,
  ),
  'contract.starting.tls': shown(
    CONTRACT,
    'With `server.tls` the gateway speaks HTTPS only, TLS 1.2 or later, WebSockets included.',
    `${TLS}: says so where it listens, and serves the official SDK`,
    `${TLS}: serves WebSockets`,
    `${TLS}: speaks TLS 1.2 and 1.3, nothing older, and no HTTP without it`,
    `${TLS}: keeps its port to itself, also after a change`,
    `${TLS}: after a stop nothing listens, and no change brings it back`,
  ),
  'contract.starting.certificates': shown(
    CONTRACT,
    'A changed pair is taken over while answers run; one that cannot be used is refused and named, at the start with exit code 2.',
    `${TLS}: shows a new pair to new connections; answers and WebSockets go on`,
    `${TLS}: ends connections under the old pair behind an answer, and cuts none`,
    `${TLS}: follows the files; a broken pair is refused and logged, and the old one stays`,
    `${TLS}: does not start with %s`,
    `${TLS}: a wrong pair ends the start with 2, and \`check\` finds it`,
    `${TLS}: warns of a key that others can read, and of a certificate that has expired`,
  ),
};
