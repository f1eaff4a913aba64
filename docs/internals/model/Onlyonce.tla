------------------------------ MODULE Onlyonce ------------------------------
(* One key, its entry, and everybody who may touch it: owners on several nodes, the sweeper, the reconciler, an operator, and the
   provider that executes the calls. README.md beside this file explains it in plain words. *)
EXTENDS Naturals, TLC

CONSTANTS
    Claims,         \* how many claims there may be; each has a token of its own
    Attempts,       \* how often one entry may be claimed
    Lives,          \* how many entries the key may have, one after another
    Lease,          \* ticks that a claim holds without renewal
    Renewals,       \* how often an owner renews, so that it does not hold the key for ever (heldMax)
    CallMax,        \* ticks from an owner's last look at its lease until its effect cannot happen any more
    AbsentAfter,    \* ticks that an entry is unknown before an absence is believed
    Retention,      \* ticks that a settled entry answers
    Tombstone,      \* ticks that the key is remembered after that
    KeyIsHonoured,  \* whether the provider executes calls with one downstream key once
    Fault           \* a mistake of ours that the model must find; "none" for what Onlyonce does

Tokens == 1..Claims
NoToken == 0
NoFinding == [life |-> 0, attempt |-> 0, found |-> FALSE]

Answered == {"COMPLETED", "FAILED"}
Purgeable == Answered \union {"RETRYABLE", "EXPIRED"}
Open == {"PENDING", "PROCESSING", "UNKNOWN"}

VARIABLES
    entry,    \* the stored row. "left" is the time left of the lease, of the reconciler's patience, or of the retention
    owner,    \* for each token, what its owner knows, and its call
    effects,  \* for each life of the key, how often the provider executed it. No store of ours
    told,     \* for each life of the key, the result that a client has seen
    finding   \* what a reconciler has seen and not yet recorded

vars == <<entry, owner, effects, told, finding>>

(* An owner's steps: it sends its claim ("asking"), hears that it has it ("holding"), looks at its lease and makes the call
   ("calling"), knows how to settle ("knows"), has settled without having heard so ("settled"), has heard it ("done"), or learns that it
   is not the owner ("lost"). Nothing makes an owner go on: one that stops for good has crashed, one that stops for long was paused. *)
Idle == [step |-> "idle", life |-> 0, attempt |-> 0, renewals |-> Renewals, call |-> 0, made |-> FALSE, to |-> "UNKNOWN"]

Init ==
    /\ entry = [state |-> "ABSENT", life |-> 0, token |-> NoToken, attempt |-> 0, left |-> 0, result |-> NoToken]
    /\ owner = [t \in Tokens |-> Idle]
    /\ effects = [life \in 1..Lives |-> 0]
    /\ told = [life \in 1..Lives |-> NoToken]
    /\ finding = NoFinding

Holds(t) == entry.state = "PROCESSING" /\ entry.token = t

-----------------------------------------------------------------------------
(* The store: each step is one conditional, atomic write. *)

(* The same token may claim again: its owner did not hear the answer. The first token that is free stands for all of them. *)
MayClaim(t) ==
    \/ owner[t].step = "asking"
    \/ owner[t].step = "idle" /\ \A s \in Tokens : s < t => owner[s].step /= "idle"

ClaimFresh(t) ==
    /\ MayClaim(t) /\ entry.state = "ABSENT" /\ entry.life < Lives
    /\ entry' = [state |-> "PROCESSING", life |-> entry.life + 1, token |-> t, attempt |-> 1, left |-> Lease, result |-> NoToken]
    /\ owner' = [owner EXCEPT ![t].step = "asking", ![t].life = entry.life + 1, ![t].attempt = 1]
    /\ UNCHANGED <<effects, told, finding>>

ClaimAgain(t) ==
    /\ MayClaim(t) /\ entry.state \in {"PENDING", "RETRYABLE"} /\ entry.attempt < Attempts
    /\ entry' = [entry EXCEPT !.state = "PROCESSING", !.token = t, !.attempt = @ + 1, !.left = Lease]
    /\ owner' = [owner EXCEPT ![t].step = "asking", ![t].life = entry.life, ![t].attempt = entry.attempt + 1]
    /\ UNCHANGED <<effects, told, finding>>

Accept ==
    /\ entry.state = "ABSENT" /\ entry.life < Lives
    /\ entry' = [state |-> "PENDING", life |-> entry.life + 1, token |-> NoToken, attempt |-> 0, left |-> Lease, result |-> NoToken]
    /\ UNCHANGED <<owner, effects, told, finding>>

Renew(t) ==
    /\ owner[t].step \in {"asking", "holding", "calling"} /\ owner[t].renewals > 0 /\ Holds(t) /\ entry.left < Lease
    /\ entry' = [entry EXCEPT !.left = Lease]
    /\ owner' = [owner EXCEPT ![t].renewals = @ - 1]
    /\ UNCHANGED <<effects, told, finding>>

Ended(to, result) == [entry EXCEPT
    !.state = to,
    !.token = NoToken,
    !.left = IF to = "UNKNOWN" THEN AbsentAfter ELSE Retention,
    !.result = IF to = "COMPLETED" THEN result ELSE NoToken]

MaySettle(t) == IF Fault = "no fence" THEN entry.state = "PROCESSING" ELSE Holds(t)

Settle(t) ==
    /\ owner[t].step = "knows" /\ MaySettle(t)
    /\ entry' = Ended(owner[t].to, t)
    /\ owner' = [owner EXCEPT ![t].step = "settled"]
    /\ UNCHANGED <<effects, told, finding>>

(* A definite result of an owner whose lease was swept: nobody else can have run while its own attempt is unknown. *)
MayTestify(t) ==
    /\ entry.state = "UNKNOWN" /\ owner[t].to /= "UNKNOWN"
    /\ Fault = "old testimony" \/ (owner[t].life = entry.life /\ owner[t].attempt = entry.attempt)

(* Only a result or the proof that nothing happened is heard; what an unknown entry can become is in State. *)
Testify(t) ==
    /\ owner[t].step = "knows" /\ MayTestify(t) /\ owner[t].to /= "FAILED"
    /\ entry' = Ended(owner[t].to, t)
    /\ owner' = [owner EXCEPT ![t].step = "settled"]
    /\ UNCHANGED <<effects, told, finding>>

Sweep ==
    /\ entry.state \in {"PENDING", "PROCESSING"} /\ entry.left = 0
    /\ entry' = Ended(IF entry.state = "PENDING" THEN "FAILED" ELSE IF Fault = "run again on lapse" THEN "RETRYABLE" ELSE "UNKNOWN",
                      NoToken)
    /\ UNCHANGED <<owner, effects, told, finding>>

Expire ==
    /\ entry.state \in Answered /\ entry.left = 0
    /\ entry' = [entry EXCEPT !.state = "EXPIRED", !.left = Tombstone, !.result = NoToken]
    /\ UNCHANGED <<owner, effects, told, finding>>

Gone == [entry EXCEPT !.state = "ABSENT", !.token = NoToken, !.attempt = 0, !.left = 0, !.result = NoToken]

Purge ==
    /\ entry.state \in {"RETRYABLE", "EXPIRED"} /\ entry.left = 0
    /\ entry' = Gone
    /\ UNCHANGED <<owner, effects, told, finding>>

Evict ==
    /\ entry.state \in Purgeable
    /\ entry' = Gone
    /\ UNCHANGED <<owner, effects, told, finding>>

-----------------------------------------------------------------------------
(* Owners. *)

HearClaimed(t) ==
    /\ owner[t].step = "asking"
    /\ owner' = [owner EXCEPT ![t].step = "holding"]
    /\ UNCHANGED <<entry, effects, told, finding>>

(* The last look at the lease. From here on the owner may be paused, and its call may wait in any queue. *)
Call(t) ==
    /\ owner[t].step = "holding"
    /\ Fault = "no look at the lease" \/ (Holds(t) /\ entry.left > 0)
    /\ owner' = [owner EXCEPT ![t].step = "calling", ![t].call = CallMax]
    /\ UNCHANGED <<entry, effects, told, finding>>

HearAnswer(t) ==
    /\ owner[t].step = "calling" /\ owner[t].made
    /\ owner' = [owner EXCEPT ![t].step = "knows", ![t].to = "COMPLETED"]
    /\ UNCHANGED <<entry, effects, told, finding>>

(* A proof that this call has no effect and will have none: a refused connection, a refusal of the provider. *)
HearRefusal(t, to) ==
    /\ owner[t].step = "calling" /\ ~owner[t].made /\ owner[t].call > 0
    /\ owner' = [owner EXCEPT ![t].step = "knows", ![t].to = to, ![t].call = 0]
    /\ UNCHANGED <<entry, effects, told, finding>>

(* A time-out, a reset, an exception: the call may have happened, and may still be on its way. *)
Doubt(t) ==
    /\ owner[t].step = "calling"
    /\ owner' = [owner EXCEPT ![t].step = "knows", ![t].to = IF Fault = "released on exception" THEN "RETRYABLE" ELSE "UNKNOWN"]
    /\ UNCHANGED <<entry, effects, told, finding>>

(* Forgets what no longer matters, which makes the model smaller. Its call may still be on its way. *)
Over(t, step) == [owner[t] EXCEPT !.step = step, !.attempt = 0, !.renewals = 0, !.to = "UNKNOWN"]

HearSettled(t) ==
    /\ owner[t].step = "settled"
    /\ owner' = [owner EXCEPT ![t] = Over(t, "done")]
    /\ told' = IF owner[t].to = "COMPLETED" THEN [told EXCEPT ![owner[t].life] = t] ELSE told
    /\ UNCHANGED <<entry, effects, finding>>

HearLost(t) ==
    /\ \/ owner[t].step \in {"asking", "holding"} /\ ~Holds(t)
       \/ owner[t].step = "knows" /\ ~MaySettle(t) /\ ~MayTestify(t)
    /\ owner' = [owner EXCEPT ![t] = Over(t, "lost")]
    /\ UNCHANGED <<entry, effects, told, finding>>

(* A duplicate is answered from the entry. *)
Replay ==
    /\ entry.state = "COMPLETED" /\ told[entry.life] = NoToken
    /\ told' = [told EXCEPT ![entry.life] = entry.result]
    /\ UNCHANGED <<entry, owner, effects, finding>>

-----------------------------------------------------------------------------
(* The provider, and who asks it. *)

Effect(t) ==
    /\ owner[t].call > 0 /\ ~owner[t].made
    /\ effects' = [effects EXCEPT ![owner[t].life] = IF KeyIsHonoured /\ @ = 1 THEN 1 ELSE @ + 1]
    /\ owner' = [owner EXCEPT ![t].made = TRUE, ![t].call = 0]
    /\ UNCHANGED <<entry, told, finding>>

(* The reconciler looks. An effect is believed at once, an absence after a while. An operator is held to the same. *)
Look ==
    /\ entry.state = "UNKNOWN" /\ finding = NoFinding
    /\ effects[entry.life] > 0 \/ entry.left = 0
    /\ finding' = [life |-> entry.life, attempt |-> entry.attempt, found |-> effects[entry.life] > 0]
    /\ UNCHANGED <<entry, owner, effects, told>>

(* Whose result it is: the provider shows the one that it made. *)
Maker(life) == CHOOSE t \in Tokens : owner[t].life = life /\ owner[t].made

Resolve ==
    /\ finding /= NoFinding
    /\ finding' = NoFinding
    /\ entry' =
        IF entry.state = "UNKNOWN" /\ (Fault = "old finding" \/ <<finding.life, finding.attempt>> = <<entry.life, entry.attempt>>)
        THEN IF finding.found THEN Ended("COMPLETED", Maker(finding.life)) ELSE Ended("RETRYABLE", NoToken)
        ELSE entry
    /\ UNCHANGED <<owner, effects, told>>

-----------------------------------------------------------------------------
(* Time: one clock, in ticks, for leases, calls, patience and retention. *)
Less(n) == IF n = 0 THEN 0 ELSE n - 1

Tick ==
    /\ entry.left > 0 \/ \E t \in Tokens : owner[t].call > 0
    /\ entry' = [entry EXCEPT !.left = Less(@)]
    /\ owner' = [t \in Tokens |-> [owner[t] EXCEPT !.call = Less(@)]]
    /\ UNCHANGED <<effects, told, finding>>

OwnerStep(t) ==
    \/ ClaimFresh(t) \/ ClaimAgain(t) \/ Renew(t) \/ Settle(t) \/ Testify(t)
    \/ HearClaimed(t) \/ Call(t) \/ HearAnswer(t) \/ Doubt(t) \/ HearSettled(t) \/ HearLost(t)
    \/ \E to \in {"RETRYABLE", "FAILED"} : HearRefusal(t, to)

Next ==
    \/ \E t \in Tokens : OwnerStep(t) \/ Effect(t)
    \/ Accept \/ Sweep \/ Expire \/ Purge \/ Evict \/ Replay \/ Look \/ Resolve \/ Tick

(* Time passes, and some node sweeps, purges and reconciles. No owner has to do anything. *)
Spec == Init /\ [][Next]_vars
    /\ WF_vars(Tick) /\ WF_vars(Sweep) /\ WF_vars(Expire) /\ WF_vars(Purge) /\ WF_vars(Look) /\ WF_vars(Resolve)

-----------------------------------------------------------------------------
(* What must hold. *)

AtMostOneEffect == \A life \in 1..Lives : effects[life] <= 1

(* A result that a client has seen stays until its retention is over or an operator evicts it. *)
NoLostResult ==
    entry.state /= "ABSENT" /\ told[entry.life] /= NoToken =>
        /\ entry.state \in {"COMPLETED", "EXPIRED"}
        /\ entry.state = "COMPLETED" => entry.result = told[entry.life]

(* No entry may run again, or say that it failed, when its effect has happened. And none completes without one. *)
NoForgottenEffect ==
    /\ entry.state \in {"PENDING", "RETRYABLE", "FAILED"} => effects[entry.life] = 0
    /\ entry.state = "COMPLETED" => effects[entry.life] > 0

(* While a lease runs, nobody but its owner ends the claim. *)
Fencing ==
    [][entry.state = "PROCESSING" /\ entry.left > 0 /\ entry'.state /= "PROCESSING"
        => owner[entry.token].step = "knows" /\ owner'[entry.token].step = "settled"]_vars

EveryKeyEnds == entry.state \in Open ~> entry.state \notin Open

-----------------------------------------------------------------------------
(* Prints each change of state once, for a comparison with the table in State. *)
ASSUME TLCSet(1, {})
PrintChange ==
    LET change == <<entry.state, entry'.state>> IN
    \/ entry.state = entry'.state
    \/ change \in TLCGet(1)
    \/ TLCSet(1, TLCGet(1) \union {change}) /\ PrintT(<<"change", change>>)
=============================================================================
