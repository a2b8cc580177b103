import { Combobox, Modal, useCombobox } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { useNavigate } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { Icon } from '../parts/content/icon.tsx'
import { useFocusReturn } from '../parts/dialogs/focus-return.ts'
import { useWords } from '../words/words.ts'
import { type Choice, useChoices } from './choices.tsx'
import styles from './palette.module.css'

/** A search over all targets: pages, companies, dispatches, and messages by number or id. */
export function Palette({ onClose }: { onClose(): void }) {
  const { say } = useWords()
  const navigate = useNavigate()
  useFocusReturn()
  const [typed, setTyped] = useState('')
  const [asked] = useDebouncedValue(typed.trim(), 150)
  const { groups, isAsking } = useChoices(typed.trim(), asked)
  const combobox = useCombobox({ opened: true })
  const { selectFirstOption } = combobox
  const shown = groups.flatMap(({ choices }) => choices.map(({ id }) => id)).join()
  // Enter opens the first choice that is shown now.
  useEffect(() => void (shown && selectFirstOption()), [shown])

  const open = (id: string) => {
    const choice = groups.flatMap(({ choices }) => choices).find(choice => choice.id === id)
    if (!choice) return
    onClose()
    void navigate(choice.go as Parameters<typeof navigate>[0])
  }
  return (
    <Modal
      opened
      onClose={onClose}
      // The field keeps its position while the list below changes its height.
      centered={false}
      yOffset="12vh"
      withCloseButton={false}
      title={say('palette.title')}
      classNames={styles}
    >
      <Combobox store={combobox} onOptionSubmit={open} classNames={styles}>
        <Combobox.EventsTarget>
          <input
            // The list would handle the key otherwise.
            onKeyDownCapture={({ key }) => key === 'Escape' && onClose()}
            className={styles.input}
            type="text"
            data-autofocus
            aria-label={say('palette.title')}
            placeholder={say('palette.find')}
            maxLength={200}
            value={typed}
            onChange={({ currentTarget }) => setTyped(currentTarget.value)}
          />
        </Combobox.EventsTarget>
        <Options groups={groups} isAsking={isAsking} />
      </Combobox>
      <Keys />
    </Modal>
  )
}

function Options({ groups, isAsking }: ReturnType<typeof useChoices>) {
  const { say } = useWords()
  return (
    <Combobox.Options tabIndex={0} aria-label={say('palette.found')}>
      {groups.map(({ heading, choices }) => (
        <Combobox.Group key={heading} label={heading}>
          {choices.map(choice => (
            <Option key={choice.id} choice={choice} />
          ))}
        </Combobox.Group>
      ))}
      {groups.length === 0 && <Combobox.Empty>{say(isAsking ? 'app.loading' : 'palette.nothing')}</Combobox.Empty>}
    </Combobox.Options>
  )
}

function Keys() {
  const { say } = useWords()
  return (
    <p className={styles.keys}>
      <kbd>↑</kbd>
      <kbd>↓</kbd> {say('palette.choose')} <kbd>↵</kbd> {say('palette.open')} <kbd>Esc</kbd> {say('palette.close')}
    </p>
  )
}

const Option = ({ choice: { id, mark, name, end } }: { choice: Choice }) => (
  <Combobox.Option value={id}>
    {typeof mark === 'string' ? <Icon name={mark} /> : mark}
    <span className={styles.name}>{name}</span>
    {end && <span className={styles.end}>{end}</span>}
  </Combobox.Option>
)
