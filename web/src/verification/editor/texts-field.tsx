import { ActionIcon, NativeSelect, Textarea } from '@mantine/core'
import { useState } from 'react'
import { codeTextOf } from '../../../../src/domain/verification/texts.ts'
import { senderFor, type VerifierSettings } from '../../../../src/domain/verifiers/verifier.ts'
import { measure } from '../../new-dispatch/text/message-text.ts'
import { Icon } from '../../parts/content/icon.tsx'
import { Section } from '../../parts/content/section.tsx'
import { useWords } from '../../words/words.ts'
import styles from '../verification.module.css'
import { type Offer, useNames } from '../verification.ts'
import type { FormProps } from './draft.ts'

const CODE = '{code}'
const SAMPLE = '47385920'
const languages = 'en ru be uk kk ky uz tg tk az hy ka tr de fr es it pt pl cs ar he fa hi zh ja ko vi'.split(' ')

/** A text for each language with its number of parts, and a preview of the SMS. */
export function TextsField({ form, offer }: { form: FormProps; offer: Offer }) {
  const { say } = useWords()
  const { draft, setting, wrong } = form
  const { texts } = draft.settings
  const [shown, setShown] = useState<string>()
  const text = shown !== undefined && shown in texts ? texts[shown] : Object.values(texts)[0]
  const put = (changed: string, text: string) => setting({ texts: { ...texts, [changed]: text } })
  const remove = (removed: string) =>
    setting({ texts: Object.fromEntries(Object.entries(texts).filter(([each]) => each !== removed)) })
  return (
    <Section title={say('verification.texts')} note={say('verification.texts.note', { code: CODE })}>
      <div className={styles.columns}>
        <div className={styles.stack}>
          {Object.entries(texts).map(([each, text]) => (
            <TextField
              key={each}
              language={each}
              text={text}
              settings={draft.settings}
              error={wrong(`text for ${each}`)}
              isOnly={Object.keys(texts).length === 1}
              onFocus={() => setShown(each)}
              onChange={changed => put(each, changed)}
              onRemove={() => remove(each)}
            />
          ))}
          <AddLanguage taken={Object.keys(texts)} onAdd={added => put(added, `${CODE}`)} />
        </div>
        {text !== undefined && (
          <Phone
            sender={senderFor(draft.settings, 'SMS') ?? offer.defaultSenders.SMS ?? ''}
            text={renderedIn(draft.settings, text)}
          />
        )}
      </div>
    </Section>
  )
}

/** The text as the server renders it, with a sample code. Placeholders without a value stay. */
function renderedIn(settings: VerifierSettings, text: string): string {
  const code = SAMPLE.slice(0, Math.min(Math.max(settings.codeLength, 1), SAMPLE.length))
  const others = Object.fromEntries([...text.matchAll(/\{([^{}]+)\}/g)].map(([whole, name]) => [name, whole]))
  return codeTextOf('SMS', settings, text, code, others)?.text ?? text
}

type TextProps = {
  language: string
  text: string
  settings: VerifierSettings
  error: string | undefined
  isOnly: boolean
  onFocus(): void
  onChange(text: string): void
  onRemove(): void
}

function TextField({ language, text, settings, error, isOnly, onFocus, onChange, onRemove }: TextProps) {
  const { say } = useWords()
  const names = useNames()
  const { parts, used, room } = measure(renderedIn(settings, text))
  const hasLines = settings.webOtpHost !== null || settings.androidHash !== null
  return (
    <div>
      <div className={styles.textHead}>
        <Textarea
          label={say('verification.texts.of', { language: names.language(language) })}
          value={text}
          rows={2}
          maxLength={500}
          error={error}
          onFocus={onFocus}
          onChange={({ currentTarget }) => onChange(currentTarget.value)}
        />
        {!isOnly && (
          <ActionIcon
            variant="subtle"
            color="gray"
            aria-label={say('verification.texts.remove', { language: names.language(language) })}
            onClick={onRemove}
          >
            <Icon name="cross" />
          </ActionIcon>
        )}
      </div>
      <p className={`note small ${styles.counter}`} data-several={parts > 1}>
        <b>{say('verification.texts.parts', { count: parts })}</b>, {say('verification.texts.used', { used, room })}
        {hasLines && ` ${say('verification.texts.withLines')}`}
      </p>
    </div>
  )
}

function AddLanguage({ taken, onAdd }: { taken: string[]; onAdd(language: string): void }) {
  const { say } = useWords()
  const names = useNames()
  const offered = languages
    .filter(language => !taken.includes(language))
    .map(value => ({ value, label: names.language(value) }))
    .sort((a, b) => names.compare(a.label, b.label))
  return (
    <NativeSelect
      className={styles.adder}
      aria-label={say('verification.texts.add')}
      value=""
      onChange={({ currentTarget }) => currentTarget.value && onAdd(currentTarget.value)}
      data={[{ value: '', label: say('verification.texts.add') }, ...offered]}
    />
  )
}

function Phone({ sender, text }: { sender: string; text: string }) {
  const { say } = useWords()
  return (
    <div className={styles.phone}>
      <p className={styles.phoneWho}>
        <b>{sender}</b>
        <span>{say('verification.texts.phone')}</span>
      </p>
      <p className={styles.bubble} data-testid="sms">
        {text}
      </p>
    </div>
  )
}
