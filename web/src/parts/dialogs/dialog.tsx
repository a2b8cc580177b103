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
  /** The label of the button: the verb of the title. A dialog without it sends nothing. */
  submit?: string
  isDangerous?: boolean
  isBusy?: boolean
  /** The label of the button that closes the dialog. The default is Cancel. */
  close?: string
  /** Other buttons instead of the closing button. */
  extra?: ReactNode
  children?: ReactNode
  /** The stored draft, for a form whose fields survive a reload. */
  kept?: Pick<Kept<object>, 'isRestored' | 'isUnsaved' | 'startAgain' | 'forget'>
  onSubmit?(): void
  onClose(): void
}

/**
 * A dialog is open while its component is mounted. It is a form: Enter presses its button. The dialog asks before typed
 * text is lost by Escape, a link or Back. It stays open during a request, because the answer may be a password that is
 * shown only once. A dialog with a `close` label only shows something and can be closed at any time.
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
      closeOnClickOutside={submit !== undefined} // a dialog without a form may show a password for the only time
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

/** Whether a text field was changed after it got the focus, and not sent since. */
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
