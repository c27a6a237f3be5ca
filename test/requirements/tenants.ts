// Projects, keys and end users: whom things belong to, and how that is changed while the gateway runs.
import { shown, type Requirements } from './requirement.ts';

const TENANTS = 'projects and keys';
const REPLICAS = 'test/socket/cluster/replicas.test.ts';
const PROJECTS = 'test/socket/accounts/projects.test.ts';
const COMMANDS = 'test/unit/accounts/tenants.test.ts';
const LAUNCHER = 'test/packaging/launcher.test.ts';
const CONFIG = 'test/unit/app/tenants-config.test.ts';
const STORAGE = 'test/unit/storage/storage.test.ts';

export const tenantsRequirements: Requirements = {
  'contract.tenants.ownership': shown(
    TENANTS,
    'What one key stores belongs to its project: the other keys of it find it and go on with it; elsewhere its ids are a 404.',
    `${PROJECTS}: %s is found by the others, and a 404 elsewhere`,
    `${PROJECTS}: is gone on with: earlier turns, conversations, summaries and files`,
    `${PROJECTS}: reasoning that was sealed for one key is opened for the others of its project`,
    `${PROJECTS}: an answer under an idempotency key is given again to the others alone`,
    `${PROJECTS}: are found by every key of the project, and by no other`,
  ),
  'contract.tenants.names': shown(
    TENANTS,
    'Of keys that are made at the same moment one has the name; gateways that start together make one first key.',
    'test/socket/accounts/first-key.test.ts: make one first key, which is good at all of them',
    'test/contract/storage/keys.test.ts: of keys that are made at the same moment, one has a name of which there may be one',
  ),
  'contract.tenants.end-users': shown(
    TENANTS,
    'Records name the end user of a request by a hash that differs from project to project.',
    `${PROJECTS}: name project and end user, whom nobody can read from them`,
    `${PROJECTS}: name the end user of every protocol that has one, and of embeddings`,
  ),
  'contract.tenants.rotation': shown(
    TENANTS,
    'A rotated key has another secret under the same id; the one of before stays good for a grace period and no longer.',
    `${COMMANDS}: the secret of before stays good for the grace, and not longer; the key is the same`,
    `${COMMANDS}: without a grace, and with a second rotation, the earlier secrets are not known any more`,
    `${COMMANDS}: of two rotations at once, one is told`,
  ),
  'contract.tenants.changes': shown(
    TENANTS,
    'Keys and projects are changed under a running gateway, which follows within two seconds; of two changes of one version the later is refused.',
    `${PROJECTS}: keys and projects are changed under a running gateway, which follows within two seconds`,
    `${COMMANDS}: of another version than the one that was read are refused`,
    `${COMMANDS}: reads only what has changed, and keeps the others as they are`,
    `${COMMANDS}: keys of an archived project are refused, until it is taken into use again`,
  ),
  'contract.tenants.file': shown(
    TENANTS,
    'File and database stand side by side: what the file defines wins, is shown with the rest, and is changed in the file alone.',
    `${COMMANDS}: is shown with the rest, and changed there alone`,
    `${COMMANDS}: the file wins over the database, and a project that it defines no more lets no key in`,
    `${LAUNCHER}: projects and keys of the file are shown with the stored ones, and changed in the file alone`,
    `${CONFIG}: limits and budgets stand at the gateway, projects, keys and providers, in the words of the file`,
  ),
  'contract.tenants.roles': shown(
    TENANTS,
    'A key calls models, manages the gateway, or both, as its roles say.',
    `${PROJECTS}: a key of the role admin alone may not call models, and says so`,
    `${COMMANDS}: the administrator’s key has that role alone`,
  ),
  'contract.storage.versions': shown(
    TENANTS,
    'The database stores the version of its schema and the oldest program that may use it: a program older than that is refused, others go on; data of before the first version is refused.',
    `${STORAGE}: a program that is too old for a database is refused, and told which version to install`,
    `${STORAGE}: an older program goes on where a newer one has only added to the database`,
    `${STORAGE}: data of before the first schema version is refused in a sentence that says what to do`,
  ),
  'contract.storage.baseline': shown(
    TENANTS,
    'What a released schema version has written is read by every later program, with what only the journal has.',
    'test/contract/baseline/baseline.test.ts: says all that it said when it was made, and goes on',
  ),
  'contract.storage.backup': shown(
    TENANTS,
    'A running installation is backed up, verified by checksums and restored with a command each, on SQLite and PostgreSQL, with its files.',
    'test/socket/storage/backup-command.test.ts: of a data directory that is in use is a complete backup, and the same when it is put back',
    'test/socket/storage/backup-command.test.ts: of a fresh installation works, without a file and without a request',
    'test/socket/storage/backup-command.test.ts: of a PostgreSQL database that is in use is a complete backup, and the same when it is put back',
  ),
  'contract.replicas.shared': shown(
    'several gateways on one database',
    'What is made on one gateway is there on all; keys and projects reach all within two seconds; a secret can be changed.',
    `${REPLICAS}: a response, a conversation and a file of one are there on the other`,
    `${REPLICAS}: one turn at a time holds a conversation, wherever it runs`,
    `${REPLICAS}: a record of one is found on the other`,
    `${REPLICAS}: a key that is made is good everywhere within two seconds, and one that is revoked nowhere`,
    `${REPLICAS}: a new secret leaves keys, owners and what was stored as they were`,
    'test/contract/storage/keys.test.ts: keys are read all, some at a time, and none is missed while others change',
    'test/contract/storage/conversations.test.ts: what many append at once is there in order and once, over two processes',
    'test/contract/storage/responses.test.ts: what many processes write and delete at once is counted as it is',
  ),
  'contract.replicas.versions': shown(
    'several gateways on one database',
    'A program goes on, and starts, beside a newer one that has only added to the database.',
    'test/socket/storage/postgres-versions.test.ts: that has only added to the database, this one answers, stores, records and starts as before',
    'test/socket/storage/postgres-versions.test.ts: that has changed the form of what is there, this one does not start, and says why',
  ),
  'contract.replicas.statements': shown(
    'several gateways on one database',
    'No question goes to the database on the way of a request but those for its own state, and few of these.',
    'test/socket/storage/postgres-statements.test.ts: of a plain request: none before it is answered, and then the batch of its record',
    'test/socket/storage/postgres-statements.test.ts: of an answer that is stored: one, also with its items in a conversation; of what is continued: one or two',
    'test/socket/storage/postgres-statements.test.ts: of an answer for which others have to give way, or that finds no room: step by step, and the sums are right',
    'test/socket/storage/postgres-statements.test.ts: of answers of one project that are stored at the same time: two for all, and what cannot be kept harms none of the others',
  ),
  'contract.replicas.moving': shown(
    'several gateways on one database',
    'A data directory is moved to PostgreSQL as a whole, wherever the move is killed: keys, what is stored, records, sums.',
    'test/socket/storage/migrate.test.ts: every table and setting of a data directory has its place in a move',
    'test/socket/storage/migrate.test.ts: reads the same from PostgreSQL, although the move was killed',
    'test/socket/storage/migrate.test.ts: is not moved to a database that holds anything else',
    'test/socket/storage/migrate.test.ts: are the same, to the nano-dollar and by the hour, wherever the move was interrupted',
    'test/socket/storage/migrate.test.ts: under another secret, or after somebody has written to the directory, are not moved',
  ),
};
