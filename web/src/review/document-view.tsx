import { ActionIcon } from '@mantine/core'
import { useEffect, useRef, useState } from 'react'
import { Icon } from '../parts/content/icon.tsx'
import { Blank } from '../parts/pages/blank.tsx'
import { addressOf } from '../senders/documents.ts'
import { useWords } from '../words/words.ts'
import styles from './review.module.css'
import type { SenderData } from './review.ts'

type Props = { companyId: number; documents: SenderData['documents'] }

/** The documents of a request, one at a time. The browser's own viewer shows PDF files, in a sandbox. */
export function DocumentView({ companyId, documents }: Props) {
  const { say } = useWords()
  const [place, setPlace] = useState(0)
  const document = documents[Math.min(place, documents.length - 1)]
  if (!document) {
    return (
      <div className={styles.doc}>
        <Blank drawing="lost" title={say('review.document.none')} text={say('review.document.none.text')} />
      </div>
    )
  }
  const address = addressOf(companyId, document)
  return (
    <div className={styles.doc}>
      <div className={styles.docBar}>
        <span className={styles.docName}>{document.filename}</span>
        <span className="note">{say('review.document', { number: place + 1, count: documents.length })}</span>
        <span className={styles.docTools}>
          {documents.length > 1 && <Turning place={place} count={documents.length} onTurn={setPlace} />}
          <LinkTool label={say('review.document.open')} icon="out" address={address} isNewTab />
          <LinkTool
            label={say('review.document.download')}
            icon="download"
            address={addressOf(companyId, document, true)}
          />
        </span>
      </div>
      {document.kind === 'pdf' ? (
        <Paper key={document.id} address={address} filename={document.filename} />
      ) : (
        <img key={document.id} className={styles.picture} src={address} alt={document.filename} />
      )}
    </div>
  )
}

function Turning({ place, count, onTurn }: { place: number; count: number; onTurn(place: number): void }) {
  const { say } = useWords()
  return (
    <>
      <Tool label={say('review.document.previous')} icon="back" isOff={place === 0} onClick={() => onTurn(place - 1)} />
      <Tool
        label={say('review.document.next')}
        icon="right"
        isOff={place === count - 1}
        onClick={() => onTurn(place + 1)}
      />
    </>
  )
}

type LinkProps = { label: string; icon: 'out' | 'download'; address: string; isNewTab?: boolean }

const LinkTool = ({ label, icon, address, isNewTab = false }: LinkProps) => (
  <ActionIcon
    component="a"
    variant="subtle"
    color="gray"
    href={address}
    {...(isNewTab ? { target: '_blank', rel: 'noreferrer' } : {})}
    aria-label={label}
    title={label}
  >
    <Icon name={icon} />
  </ActionIcon>
)

function Paper({ address, filename }: { address: string; filename: string }) {
  const frame = useRef<HTMLIFrameElement>(null)
  useEffect(() => keepFocusOutOf(frame.current!), [])
  return <iframe ref={frame} className={styles.paper} src={address} title={filename} />
}

/**
 * The browser's viewer takes the focus when it has loaded, sometimes more than once, and the keys of the review stop
 * working. The page takes the focus back each time, to the element that had it, unless the person moved it: the pointer
 * is over the viewer, or the Tab key was pressed. Returns a function that ends this.
 */
function keepFocusOutOf(frame: HTMLIFrameElement): () => void {
  let leaving: EventTarget | null = null
  let takingBack: ReturnType<typeof setTimeout> | undefined
  const remember = ({ target }: FocusEvent) => {
    leaving = target
    setTimeout(() => (leaving = null)) // the viewer takes the focus within the same task
  }
  const takeBack = () => {
    if (document.activeElement !== frame || frame.matches(':hover')) return
    const before = leaving
    takingBack = setTimeout(() => {
      frame.blur() // the browser ignores it during the change of focus
      if (before instanceof HTMLElement) before.focus({ preventScroll: true })
    })
  }
  const stop = () => {
    clearTimeout(takingBack)
    document.removeEventListener('focusout', remember)
    window.removeEventListener('blur', takeBack)
    document.removeEventListener('keydown', letFocusIn)
  }
  const letFocusIn = ({ key }: KeyboardEvent) => key === 'Tab' && stop()
  document.addEventListener('focusout', remember)
  window.addEventListener('blur', takeBack)
  document.addEventListener('keydown', letFocusIn)
  return stop
}

type ToolProps = { label: string; icon: 'back' | 'right'; isOff: boolean; onClick(): void }

const Tool = ({ label, icon, isOff, onClick }: ToolProps) => (
  <ActionIcon variant="subtle" color="gray" aria-label={label} title={label} disabled={isOff} onClick={onClick}>
    <Icon name={icon} />
  </ActionIcon>
)
