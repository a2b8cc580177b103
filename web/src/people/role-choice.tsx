import { Radio } from '@mantine/core'
import { choosing } from '../parts/forms/choosing.ts'
import styles from '../parts/forms/radio-choice.module.css'
import { useWords } from '../words/words.ts'
import { type Roles, useKindOfPeople } from './people.ts'

type Role = Roles[number]
type Props = { roles: Roles; value: Role; onChange(role: Role): void }

/** The roles of this kind of people, each with its rights in words. */
export function RoleChoice({ roles, value, onChange }: Props) {
  const { say } = useWords()
  const kind = useKindOfPeople()
  return (
    <Radio.Group label={say('people.role')} value={value} onChange={choosing(roles, onChange)}>
      {roles.map(role => (
        <Radio
          key={role}
          size="xs"
          value={role}
          label={say(`role.${role}`)}
          description={say(`role.${kind}.${role}` as 'role.COMPANY.owner')}
          classNames={styles}
        />
      ))}
    </Radio.Group>
  )
}
