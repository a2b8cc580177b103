import { type Command, withDatabase } from './command.ts'

export const migrateCommand: Command = {
  name: 'migrate',
  about: 'Brings the schema of the database up to date (the services do it by themselves when they start).',
  run: ({ config, print }) =>
    withDatabase(config, async ({ applied }) => {
      const names = applied.map(({ version, name }) => `${version} ${name}`)
      print({ applied: names }, names.length > 0 ? `Applied: ${names.join(', ')}.` : 'The schema is up to date.')
    }),
}
