import { Button, TextInput } from '@mantine/core'
import { type FormEvent, useState } from 'react'
import { useMe } from '../session.ts'
import { useWords } from '../words/words.ts'
import styles from './account.module.css'
import { useSavePreferences } from './preferences.ts'

export function ProfileForm() {
  const { say } = useWords()
  const me = useMe()
  const [name, setName] = useState(me.name)
  const save = useSavePreferences()
  const submit = (event: FormEvent) => {
    event.preventDefault()
    save.mutate({ name: name.trim() })
  }
  return (
    <form className={styles.form} onSubmit={submit}>
      <div className={styles.line}>
        <TextInput
          label={say('account.profile.name')}
          autoComplete="name"
          maxLength={100}
          value={name}
          onChange={({ currentTarget }) => setName(currentTarget.value)}
        />
        <Button type="submit" loading={save.isPending} disabled={name.trim() === me.name}>
          {say('app.save')}
        </Button>
      </div>
    </form>
  )
}
