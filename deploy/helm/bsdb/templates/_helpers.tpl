{{- define "bsdb.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 50 | trimSuffix "-" -}}
{{- else -}}
{{- $name := default .Chart.Name .Values.nameOverride -}}
{{- if contains $name .Release.Name -}}
{{- .Release.Name | trunc 50 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name $name | trunc 50 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- define "bsdb.selector" -}}
app.kubernetes.io/name: {{ default .Chart.Name .Values.nameOverride }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "bsdb.labels" -}}
{{ include "bsdb.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- end -}}

{{- define "bsdb.claim" -}}
{{- default (printf "%s-store" (include "bsdb.fullname" .)) .Values.store.existingClaim -}}
{{- end -}}

{{/* Where the data comes from: store, datasets or follow. */}}
{{- define "bsdb.mode" -}}
{{- if and .Values.datasets .Values.follow.source -}}
{{- fail "follow.source is for a single data set: leave datasets empty" -}}
{{- else if .Values.follow.source -}}follow
{{- else if .Values.datasets -}}datasets
{{- else -}}store
{{- end -}}
{{- end -}}

{{- define "bsdb.startupSeconds" -}}
{{- if eq (include "bsdb.mode" .) "follow" -}}
{{- add .Values.probes.startupSeconds .Values.follow.firstPullSeconds -}}
{{- else -}}
{{- .Values.probes.startupSeconds -}}
{{- end -}}
{{- end -}}

{{- define "bsdb.pod" -}}
{{- $mode := include "bsdb.mode" . -}}
metadata:
  labels:
    {{- include "bsdb.selector" . | nindent 4 }}
    {{- with .Values.podLabels }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  {{- if or (not .Values.serviceMonitor.enabled) .Values.podAnnotations }}
  annotations:
    {{- if not .Values.serviceMonitor.enabled }}
    prometheus.io/scrape: "true"
    prometheus.io/port: "9999"
    prometheus.io/path: /metrics
    {{- if .Values.tls.secretName }}
    prometheus.io/scheme: https
    {{- end }}
    {{- end }}
    {{- with .Values.podAnnotations }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  {{- end }}
spec:
  automountServiceAccountToken: false
  enableServiceLinks: false
  {{- with .Values.serviceAccountName }}
  serviceAccountName: {{ . }}
  {{- end }}
  {{- with .Values.priorityClassName }}
  priorityClassName: {{ . }}
  {{- end }}
  {{- with .Values.imagePullSecrets }}
  imagePullSecrets:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  # More than the 5 s of preStop plus the 10 s that draining takes at most.
  terminationGracePeriodSeconds: 30
  securityContext:
    runAsNonRoot: true
    # The image has an entry for this user in /etc/passwd, which Kerberos needs.
    runAsUser: 65532
    runAsGroup: 65532
    {{- if or (eq $mode "follow") .Values.cache.size .Values.tls.secretName .Values.tokens.secretName }}
    # Volumes of its own are writable, and secrets readable.
    fsGroup: 65532
    fsGroupChangePolicy: OnRootMismatch
    {{- end }}
    # Most runtimes' default profile forbids io_uring; the server then reads with threads and says "direct" in its first line.
    seccompProfile: {type: RuntimeDefault}
  topologySpreadConstraints:
    - maxSkew: 1
      topologyKey: kubernetes.io/hostname
      whenUnsatisfiable: ScheduleAnyway
      labelSelector:
        matchLabels:
          {{- include "bsdb.selector" . | nindent 10 }}
  {{- with .Values.nodeSelector }}
  nodeSelector:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with .Values.tolerations }}
  tolerations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with .Values.affinity }}
  affinity:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  containers:
    - name: bsdb
      image: "{{ .Values.image.repository }}:{{ default .Chart.AppVersion .Values.image.tag }}"
      imagePullPolicy: {{ .Values.image.pullPolicy }}
      args:
        - serve
        - -A
        - 0.0.0.0
        - -p
        - "9999"
        {{- if eq $mode "datasets" }}
        {{- range .Values.datasets }}
        - -d
        - {{ printf "%s=%s" .name (default (printf "/data/%s/%s" .name (default "" .directory)) .place) | quote }}
        {{- end }}
        {{- else }}
        - -d
        - {{ printf "/data/%s" .Values.store.directory }}
        {{- end }}
        - -P
        - {{ .Values.prefix }}
        - --preload
        - {{ .Values.preload }}
        {{- if eq $mode "follow" }}
        - --follow
        - {{ .Values.follow.source | quote }}
        - --follow-interval
        - {{ .Values.follow.interval | quote }}
        - --keep
        - {{ .Values.follow.keep | quote }}
        {{- end }}
        {{- with .Values.cache.size }}
        - --cache
        - {{ . | quote }}
        - --cache-dir
        - /cache
        {{- end }}
        {{- if .Values.resp.enabled }}
        - --resp
        - {{ .Values.resp.port | quote }}
        {{- end }}
        {{- if .Values.tls.secretName }}
        - --tls-cert
        - /etc/bsdb/tls/tls.crt
        - --tls-key
        - /etc/bsdb/tls/tls.key
        {{- end }}
        {{- with .Values.tls.clientCa }}
        {{- if not (and $.Values.tls.secretName $.Values.tokens.secretName) }}
        {{- fail "tls.clientCa needs tls.secretName, and tokens.secretName for clients without a certificate" }}
        {{- end }}
        - --tls-client-ca
        - /etc/bsdb/tls/{{ . }}
        - --tls-client-optional
        {{- end }}
        {{- if .Values.tokens.secretName }}
        - --token-file
        - /etc/bsdb/tokens/{{ .Values.tokens.key }}
        {{- end }}
        {{- range .Values.extraArgs }}
        - {{ . | quote }}
        {{- end }}
      {{- if or .Values.javaOpts .Values.extraEnv }}
      env:
        {{- with .Values.javaOpts }}
        - name: BSDB_JAVA_OPTS
          value: {{ . | quote }}
        {{- end }}
        {{- with .Values.extraEnv }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
      {{- end }}
      ports:
        - name: http
          containerPort: 9999
        {{- if .Values.resp.enabled }}
        - name: resp
          containerPort: {{ .Values.resp.port }}
        {{- end }}
      startupProbe:
        httpGet:
          path: /readyz
          port: http
          {{- if .Values.tls.secretName }}
          scheme: HTTPS
          {{- end }}
        periodSeconds: 2
        timeoutSeconds: 2
        failureThreshold: {{ div (include "bsdb.startupSeconds" . | int) 2 }}
      readinessProbe:
        httpGet:
          path: /readyz
          port: http
          {{- if .Values.tls.secretName }}
          scheme: HTTPS
          {{- end }}
        periodSeconds: 5
        timeoutSeconds: 2
        failureThreshold: 2
      livenessProbe:
        httpGet:
          path: /healthz
          port: http
          {{- if .Values.tls.secretName }}
          scheme: HTTPS
          {{- end }}
        periodSeconds: 10
        timeoutSeconds: 5
        failureThreshold: 6
      # The endpoint is withdrawn at the same time; requests that still arrive are answered.
      lifecycle:
        preStop:
          exec: {command: [sleep, "5"]}
      resources:
        {{- toYaml .Values.resources | nindent 8 }}
      securityContext:
        allowPrivilegeEscalation: false
        readOnlyRootFilesystem: true
        capabilities:
          drop: [ALL]
      volumeMounts:
        {{- if eq $mode "store" }}
        - name: store
          mountPath: /data
          readOnly: true
        {{- else if eq $mode "follow" }}
        - name: store
          mountPath: /data
        {{- else }}
        {{- range .Values.datasets }}
        {{- if .claim }}
        - name: {{ printf "data-%s" (.name | lower | replace "_" "-" | replace "." "-") }}
          mountPath: /data/{{ .name }}
          readOnly: true
        {{- end }}
        {{- end }}
        {{- end }}
        # Native libraries are unpacked here, so it must not be mounted noexec.
        - name: tmp
          mountPath: /tmp
        {{- if .Values.cache.size }}
        - name: cache
          mountPath: /cache
        {{- end }}
        {{- if .Values.tls.secretName }}
        - name: tls
          mountPath: /etc/bsdb/tls
          readOnly: true
        {{- end }}
        {{- if .Values.tokens.secretName }}
        - name: tokens
          mountPath: /etc/bsdb/tokens
          readOnly: true
        {{- end }}
        {{- with .Values.extraVolumeMounts }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
  volumes:
    {{- if eq $mode "store" }}
    - name: store
      persistentVolumeClaim:
        claimName: {{ include "bsdb.claim" . }}
        readOnly: true
    {{- else if eq $mode "datasets" }}
    {{- range .Values.datasets }}
    {{- if .claim }}
    - name: {{ printf "data-%s" (.name | lower | replace "_" "-" | replace "." "-") }}
      persistentVolumeClaim:
        claimName: {{ .claim }}
        readOnly: true
    {{- end }}
    {{- end }}
    {{- end }}
    - name: tmp
      emptyDir:
        sizeLimit: 64Mi
    {{- if .Values.cache.size }}
    - name: cache
      emptyDir:
        sizeLimit: {{ .Values.cache.volumeSize }}
    {{- end }}
    {{- with .Values.tls.secretName }}
    - name: tls
      secret:
        secretName: {{ . }}
        defaultMode: 0440
    {{- end }}
    {{- with .Values.tokens.secretName }}
    - name: tokens
      secret:
        secretName: {{ . }}
        defaultMode: 0440
    {{- end }}
    {{- with .Values.extraVolumes }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
{{- end -}}
