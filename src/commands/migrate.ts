import { openDatabase } from '../db/database.ts'
import { migrate } from '../db/migrate.ts'
import type { Command } from './command.ts'

export const migrateCommand: Command = {
  name: 'migrate',
  about: 'Brings the schema of the database up to date (the services do it by themselves when they start).',
  async run({ config, print }) {
    const database = await openDatabase(config)
    try {
      const applied = await migrate(database.sql)
      const names = applied.map(({ version, name }) => `${version} ${name}`)
      print({ applied: names }, names.length > 0 ? `Applied: ${names.join(', ')}.` : 'The schema is up to date.')
    } finally {
      await database.close()
    }
  },
}
