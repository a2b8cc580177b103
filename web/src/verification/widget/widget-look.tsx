import { Button, NativeSelect, TextInput } from '@mantine/core'
import { useState } from 'react'
import type { WidgetLook as Look, PageSettings } from '../../../../src/domain/verifiers/verifier.ts'
import { contrast, textOn } from '../../../../widget/view/look.ts'
import { Icon } from '../../parts/content/icon.tsx'
import { Section } from '../../parts/content/section.tsx'
import { oneOf } from '../../search-values.ts'
import { useWords } from '../../words/words.ts'
import { type FormProps, usualLook } from '../editor/draft.ts'
import styles from '../verification.module.css'
import { sampleCode } from './preview-service.ts'
import { WidgetPreview } from './widget-preview.tsx'

const corners = [0, 4, 8, 12, 16, 20, 24]
const USUAL = { accent: '#1d56ad', accentDark: '#3a70c8', radiusPixels: 12 }

const themes = ['auto', 'light', 'dark'] as const

/** The settings of the look, and a preview of the widget in both themes. */
export function WidgetLook({ form: { draft, change, wrong }, page }: { form: FormProps; page: PageSettings }) {
  const { say } = useWords()
  const [round, setRound] = useState(0)
  const look = page.look ?? usualLook
  const set = (changed: Partial<Look>) => change({ page: { ...page, look: { ...look, ...changed } } })
  return (
    <Section title={say('verification.look')} note={say('verification.look.note')}>
      <div className={styles.look}>
        <div>
          <WidgetPreview key={round} settings={draft.settings} look={look} />
          <p className={`note small ${styles.play}`}>
            {say('verification.look.play', { code: sampleCode(draft.settings.codeLength) })}{' '}
            <button type="button" className={`link ${styles.plain}`} onClick={() => setRound(round + 1)}>
              {say('verification.look.restart')}
            </button>
          </p>
        </div>
        <LookFields look={look} wrong={wrong} onChange={set} />
      </div>
    </Section>
  )
}

type LookProps = { look: Look; wrong: FormProps['wrong']; onChange(changed: Partial<Look>): void }

function LookFields({ look, wrong, onChange }: LookProps) {
  const { say } = useWords()
  return (
    <div className={styles.stack}>
      <Colour
        label={say('verification.look.accent')}
        value={look.accent}
        usual={USUAL.accent}
        placeholder={say('verification.look.usual')}
        error={wrong('accent')}
        onChange={accent => onChange({ accent })}
      />
      <Colour
        label={say('verification.look.accentDark')}
        value={look.accentDark}
        usual={look.accent ?? USUAL.accentDark}
        placeholder={look.accent ? say('verification.look.same') : say('verification.look.usual')}
        error={wrong('accent-dark')}
        onChange={accentDark => onChange({ accentDark })}
      />
      <div className={styles.pair}>
        <NativeSelect
          label={say('verification.look.corners')}
          value={String(look.radiusPixels ?? USUAL.radiusPixels)}
          error={wrong('radius')}
          onChange={({ currentTarget }) => onChange({ radiusPixels: Number(currentTarget.value) })}
          data={corners.map(count => ({ value: String(count), label: say('verification.look.pixels', { count }) }))}
        />
        <NativeSelect
          label={say('verification.look.theme')}
          value={look.theme}
          onChange={({ currentTarget }) => onChange({ theme: oneOf(themes, currentTarget.value) ?? look.theme })}
          data={themes.map(value => ({
            value,
            label: say(`verification.look.theme.${value}`),
          }))}
        />
      </div>
      <p className="note small">{say('verification.look.css')}</p>
    </div>
  )
}

type ColourProps = {
  label: string
  value: string | null
  /** The colour that is used if none is chosen. */
  usual: string
  placeholder: string
  error: string | undefined
  onChange(colour: string | null): void
}

const isColour = (text: string) => /^#[0-9a-f]{6}$/.test(text)

/**
 * A colour, typed or chosen with the colour picker of the browser. The widget writes on it in white or black, depending
 * on the contrast.
 */
function Colour({ label, value, usual, placeholder, error, onChange }: ColourProps) {
  const { say } = useWords()
  const shown = value !== null && isColour(value) ? value : usual
  const text = textOn(shown)
  return (
    <div>
      <TextInput
        label={label}
        value={value ?? ''}
        placeholder={placeholder}
        maxLength={7}
        spellCheck={false}
        error={error}
        leftSection={
          <input
            type="color"
            className={styles.swatch}
            aria-label={say('verification.look.pick', { label })}
            value={shown}
            onChange={({ currentTarget }) => onChange(currentTarget.value)}
          />
        }
        rightSection={
          value !== null && (
            <Button
              variant="subtle"
              color="gray"
              className={styles.clear}
              aria-label={placeholder}
              onClick={() => onChange(null)}
            >
              <Icon name="cross" size={14} />
            </Button>
          )
        }
        onChange={({ currentTarget }) => onChange(currentTarget.value.trim().toLowerCase() || null)}
      />
      {value !== null && isColour(value) && (
        <p className="note small">
          {say('verification.look.contrast', {
            text: text === '#ffffff' ? say('verification.look.white') : say('verification.look.black'),
            contrast: Math.floor(contrast(shown, text) * 10) / 10,
          })}
        </p>
      )}
    </div>
  )
}
