import { Button, Modal } from '@mantine/core'
import { type FocusEvent, type FormEvent, type ReactNode, useEffect, useRef, useState } from 'react'
import { useWords } from '../../words/words.ts'
import type { Kept } from '../forms/kept-form.ts'
import { useLeaving } from '../forms/leaving.ts'
import { RestoredNote } from '../forms/restored-note.tsx'
import styles from './dialog.module.css'
import { useFocusReturn } from './focus-return.ts'

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
  /** Of a form whose fields a reload keeps. */
  kept?: Pick<Kept<object>, 'isRestored' | 'isUnsaved' | 'startAgain' | 'forget'>
  onSubmit?(): void
  onClose(): void
}

/**
 * A dialog is there while its component is. It is a form: Enter presses its button. Before typed text is lost (Escape, a
 * link, Back), it asks. While the server is asked it stays open: its answer may be a password that is shown once. One
 * that has a text for closing only looks, and closes at any time.
 */
export function Dialog(props: Props) {
  const { title, text, submit, isBusy = false, children, kept, onSubmit } = props
  const { say } = useWords()
  useFocusReturn()
  const typed = useTyped(isBusy)
  const isUnsaved = () => submit !== undefined && typed.isUnsent() && (kept ? kept.isUnsaved() : typed.isTyped())
  const leaving = useLeaving(isUnsaved)
  const [isClosing, setIsClosing] = useState(false)
  const isAsking = isClosing || leaving.status === 'blocked'
  const stay = () => {
    setIsClosing(false)
    leaving.reset?.()
  }
  const discard = () => {
    kept?.forget()
    props.onClose()
    leaving.proceed?.()
  }
  const close = () => {
    if (isBusy && props.close === undefined) return
    if (isAsking) stay()
    else if (isUnsaved()) setIsClosing(true)
    else discard()
  }
  const send = (event: FormEvent) => {
    event.preventDefault()
    setIsClosing(false)
    onSubmit?.()
  }
  return (
    <Modal
      opened
      onClose={close}
      closeOnClickOutside={submit !== undefined} // a password may stand in it, this once
      title={title}
      closeButtonProps={{ 'aria-label': say('app.close') }}
      classNames={styles}
    >
      <form onSubmit={send} onFocus={typed.onFocus} onInput={typed.onInput} className={styles.form} noValidate>
        {text && <p className="note">{text}</p>}
        {kept?.isRestored && <RestoredNote onStartAgain={kept.startAgain} />}
        {children}
        {isAsking ? <Question onStay={stay} onDiscard={discard} /> : <Actions {...props} onClose={close} />}
      </form>
    </Modal>
  )
}

function Actions({ submit, close, isDangerous, isBusy, extra, onClose }: Props) {
  const { say } = useWords()
  return (
    <div className={styles.actions}>
      {extra ?? (
        <Button disabled={isBusy === true && close === undefined} onClick={onClose}>
          {close ?? say('app.cancel')}
        </Button>
      )}
      {submit && (
        <Button type="submit" variant="filled" color={isDangerous ? 'red' : 'accent'} loading={isBusy ?? false}>
          {submit}
        </Button>
      )}
    </div>
  )
}

function Question({ onStay, onDiscard }: { onStay(): void; onDiscard(): void }) {
  const { say } = useWords()
  return (
    <>
      <p role="alert">{say('form.discard.text')}</p>
      <div className={styles.actions}>
        <Button autoFocus onClick={onStay}>
          {say('form.keepEditing')}
        </Button>
        <Button variant="filled" color="red" onClick={onDiscard}>
          {say('form.discard')}
        </Button>
      </div>
    </>
  )
}

type TextField = HTMLInputElement | HTMLTextAreaElement

/** Whether text fields differ from what they held when the person came to them, and were not sent since. */
function useTyped(isBusy: boolean) {
  const began = useRef(new Map<TextField, string>())
  const isSent = useRef(false)
  useEffect(() => {
    if (isBusy) isSent.current = true
  }, [isBusy])
  return {
    onFocus: ({ target }: FocusEvent) => {
      if (isTextField(target) && !began.current.has(target)) began.current.set(target, target.value)
    },
    onInput: () => {
      isSent.current = false
    },
    isTyped: () => [...began.current].some(([field, value]) => field.isConnected && field.value !== value),
    isUnsent: () => !isSent.current,
  }
}

const isTextField = (target: EventTarget): target is TextField =>
  target instanceof HTMLTextAreaElement ||
  (target instanceof HTMLInputElement && !target.readOnly && !['checkbox', 'radio', 'file'].includes(target.type))
