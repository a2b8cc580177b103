import { useTrafficNames } from '../../parts/names/traffic-names.ts'
import { useWords } from '../../words/words.ts'
import { isKnownReason, meaningOf } from '../names.ts'
import styles from './message.module.css'

/** An error in words, with advice. */
export function WhatItMeans({ errorCode }: { errorCode: number | null }) {
  const { say } = useWords()
  const { reason } = useTrafficNames()
  if (errorCode === null) return null
  return (
    <p className={styles.reason}>
      <b>{reason(errorCode)}.</b> {isKnownReason(errorCode) && say(`message.means.${meaningOf[errorCode]}`)}
    </p>
  )
}
