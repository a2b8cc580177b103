import type { Command } from '../command.ts'

const service = () => import('../serve.ts')

export const serviceCommands: Command[] = [
  {
    name: 'serve',
    about: 'Runs everything: the HTTP server here, the engine in a process of its own.',
    options: { 'stop-with-parent': { about: 'Stop also when the process that started it ends, as `npm start` needs' } },
    run: async call => (await service()).serve(call),
  },
  {
    name: 'api',
    about: 'Runs the HTTP server alone; any number of them share one database.',
    run: async call => (await service()).serveApi(call),
  },
  {
    name: 'engine',
    about: 'Runs the engine alone; any number of them share one database.',
    run: async call => (await service()).runEngine(call),
  },
  {
    name: 'migrate',
    about: 'Brings the schema of the database up to date (the services do it by themselves when they start).',
    run: async call => (await import('../migrate.ts')).migrateSchema(call),
  },
  {
    name: 'config',
    about: 'Prints every setting, its value in force and what it is for.',
    run: async call => (await import('../config.ts')).printConfig(call),
  },
]
