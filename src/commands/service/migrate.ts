import { type Call, withDatabase } from '../command.ts'

export async function migrateSchema({ config, print }: Call) {
  await withDatabase(
    config,
    async ({ applied }) => {
      const names = applied.map(({ version, name }) => `${version} ${name}`)
      print({ applied: names }, names.length > 0 ? `Applied: ${names.join(', ')}.` : 'The schema is up to date.')
    },
    { create: true },
  )
}
