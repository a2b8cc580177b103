import { Button, Modal } from '@mantine/core'
import type { FormEvent, ReactNode } from 'react'
import { useWords } from '../words/words.ts'
import styles from './dialog.module.css'

type Props = {
  title: string
  text?: string
  /** What the button does: the verb of the title. Without it there is nothing to send. */
  submit?: string
  isDangerous?: boolean
  isBusy?: boolean
  /** Of the button that closes; unless given, Cancel. */
  close?: string
  /** Other buttons, in place of the one that closes. */
  extra?: ReactNode
  children?: ReactNode
  onSubmit?(): void
  onClose(): void
}

/** A dialog is there while its component is. It is a form: Enter presses its button. */
export function Dialog({ title, text, submit, close, isDangerous, isBusy, extra, children, onSubmit, onClose }: Props) {
  const { say } = useWords()
  const send = (event: FormEvent) => {
    event.preventDefault()
    onSubmit?.()
  }
  return (
    <Modal
      opened
      onClose={onClose}
      title={title}
      closeButtonProps={{ 'aria-label': say('app.close') }}
      classNames={styles}
    >
      <form onSubmit={send} className={styles.form} noValidate>
        {text && <p className="note">{text}</p>}
        {children}
        <div className={styles.actions}>
          {extra ?? <Button onClick={onClose}>{close ?? say('app.cancel')}</Button>}
          {submit && (
            <Button type="submit" variant="filled" color={isDangerous ? 'red' : 'accent'} loading={isBusy ?? false}>
              {submit}
            </Button>
          )}
        </div>
      </form>
    </Modal>
  )
}
