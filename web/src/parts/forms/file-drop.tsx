import { Button } from '@mantine/core'
import { type DragEvent, useRef, useState } from 'react'
import styles from './file-drop.module.css'

type Props = {
  title: string
  note: string
  button: string
  /** The attribute `accept` of the file input. */
  accept: string
  isMultiple?: boolean
  onFiles(files: File[]): void
}

/** An area for dropped files, with a button that opens the file dialog. */
export function FileDrop({ title, note, button, accept, isMultiple = false, onFiles }: Props) {
  const input = useRef<HTMLInputElement>(null)
  const [isOver, setIsOver] = useState(false)
  const take = (list: FileList | null) => {
    const files = [...(list ?? [])].slice(0, isMultiple ? undefined : 1)
    if (files.length > 0) onFiles(files)
  }
  const drop = (event: DragEvent) => {
    event.preventDefault()
    setIsOver(false)
    take(event.dataTransfer.files)
  }
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the button inside does the same
    <div
      className={`${styles.drop} ${isOver ? styles.over : ''}`}
      onDragOver={event => {
        event.preventDefault()
        setIsOver(true)
      }}
      onDragLeave={() => setIsOver(false)}
      onDrop={drop}
    >
      <p className="strong">{title}</p>
      <p className="note">{note}</p>
      <Button onClick={() => input.current?.click()}>{button}</Button>
      <input
        ref={input}
        type="file"
        hidden
        aria-label={button}
        accept={accept}
        multiple={isMultiple}
        onChange={({ currentTarget }) => {
          take(currentTarget.files)
          currentTarget.value = '' // so that the same file can be chosen again
        }}
      />
    </div>
  )
}
