import type { Command } from '../command.ts'

const service = () => import('../service/serve.ts')
const database = () => import('../service/database.ts')

export const serviceCommands: Command[] = [
  {
    name: 'serve',
    about:
      'Runs the service: HTTP here, and the engine, which sends, in a process of its own. The first start makes the database.',
    options: { 'stop-with-parent': { about: 'Stop also when the process that started it ends, as `npm start` needs' } },
    run: async call => (await service()).serve(call),
  },
  {
    name: 'api',
    about: 'Runs the HTTP server alone; any number of these share one database with the engines.',
    run: async call => (await service()).serveApi(call),
  },
  {
    name: 'engine',
    about: 'Runs the engine alone, which sends; any number of these share one database.',
    run: async call => (await service()).runEngine(call),
  },
  {
    name: 'migrate',
    about:
      'Brings the tables of the database up to date; `serve`, `api` and `engine` do it by themselves when they start.',
    run: async call => (await import('../service/migrate.ts')).migrateSchema(call),
  },
  {
    name: 'database export',
    about: 'Writes all data into one file, as of one moment; the service may go on. The secret is not in it.',
    arguments: [{ name: 'FILE', about: 'The file to write; it must not be there yet' }],
    run: async call => (await database()).exportFile(call),
  },
  {
    name: 'database import',
    about: 'Fills an empty database from a file of `database export`: all of it or nothing.',
    arguments: [{ name: 'FILE', about: 'The file to read' }],
    run: async call => (await database()).importFile(call),
  },
  {
    name: 'database upgrade',
    about: 'Brings the embedded database to the PostgreSQL of this Tidings; the former one stays beside it.',
    run: async call => (await database()).upgrade(call),
  },
  {
    name: 'config',
    about: 'Prints every setting, the value in force and what it is for.',
    run: async call => (await import('../service/config.ts')).printConfig(call),
  },
]
