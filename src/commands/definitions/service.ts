import { BY_CORES } from '../../config.ts'
import type { Command } from '../command.ts'

const service = () => import('../service/serve.ts')
const database = () => import('../service/database.ts')

export const serviceCommands: Command[] = [
  {
    name: 'serve',
    about:
      'Runs the service: HTTP, and engines, which send, in processes of their own. The first start makes the database.',
    options: {
      api: { value: 'N', about: `HTTP processes on the one port; by default ${BY_CORES}` },
      engines: { value: 'N', about: 'Engines; by default the same number' },
      'stop-with-parent': { about: 'Stop when the parent process ends, too; `npm start` needs it' },
    },
    run: async call => (await service()).serve(call),
  },
  {
    name: 'api',
    about: 'Runs only the HTTP server; any number of them can share one database with the engines.',
    options: {
      'connections-from-parent': {
        about: 'Take the connections of the parent process instead of a port; `tidings serve` needs it',
      },
    },
    run: async call => (await service()).serveApi(call),
  },
  {
    name: 'engine',
    about: 'Runs only the engine, which sends messages; any number of engines can share one database.',
    run: async call => (await service()).runEngine(call),
  },
  {
    name: 'migrate',
    about:
      'Brings the tables of the database up to date; `serve`, `api` and `engine` do it by themselves when they start, unless TIDINGS_MIGRATE is false.',
    options: {
      plan: { about: 'Print the migrations that would be applied, each with its effect, and change nothing' },
      'stop-older': {
        about: 'Stop processes whose program is too old for a migration, on all machines, and wait for their end',
      },
      distribute: {
        about: 'Then distribute the tables of companies over the nodes of a Citus cluster; see docs/citus.md',
      },
      shards: { value: 'N', about: 'The number of shards of each table, with --distribute', default: '32' },
    },
    run: async call => (await import('../service/migrate.ts')).migrateSchema(call),
  },
  {
    name: 'database export',
    about:
      'Writes all data of one moment into one file. The service may run meanwhile. The file does not contain the secret.',
    arguments: [{ name: 'FILE', about: 'The file to write; it must not exist' }],
    run: async call => (await database()).exportFile(call),
  },
  {
    name: 'database import',
    about: 'Fills an empty database from a file of `database export`, completely or not at all.',
    arguments: [{ name: 'FILE', about: 'The file to read' }],
    run: async call => (await database()).importFile(call),
  },
  {
    name: 'database upgrade',
    about:
      'Moves the embedded database to the PostgreSQL version of this Tidings; the former database stays beside it.',
    run: async call => (await database()).upgrade(call),
  },
  {
    name: 'version',
    about: 'Prints the versions of this program, of the schema of the database and of all running processes.',
    run: async call => (await import('../service/version.ts')).printVersions(call),
  },
  {
    name: 'health',
    about:
      'Checks the HTTP server at HOST and PORT, or an engine of this machine, for supervisors and containers; exit code 1 when it does not work.',
    options: {
      engine: { about: 'Check an engine: it must have reported to the database within ten seconds' },
      pid: { value: 'PID', about: 'The process id of the engine; by default any engine of this machine counts' },
      wait: { value: 'SECONDS', about: 'Try again for so long, e.g. after a start' },
    },
    run: async call => (await import('../service/processes/health.ts')).checkHealth(call),
  },
  {
    name: 'config',
    about: 'Prints every setting with its present value and its purpose.',
    run: async call => (await import('../service/config.ts')).printConfig(call),
  },
]
