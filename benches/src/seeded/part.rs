//! The objects of the set, without mistakes.

use fastrand::Rng;

/// The objects of the definition, the policy with its binding, and the namespace.
pub(super) const FOUNDATION_OBJECTS: usize = 4;

pub(super) const NAMESPACE: &str = "\
apiVersion: v1
kind: Namespace
metadata:
  name: shop
";
/// The definition of custom resources in the set.
pub const DEFINITION: &str = "\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: backups.shop.example.com
spec:
  group: shop.example.com
  scope: Namespaced
  names: {kind: Backup, plural: backups}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        required: [spec]
        properties:
          spec:
            type: object
            required: [size]
            properties:
              size: {type: string, enum: [small, large]}
              keep: {type: integer, minimum: 1}
";
pub(super) const POLICY: &str = "\
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata:
  name: replicas
spec:
  failurePolicy: Fail
  matchConstraints:
    resourceRules:
    - apiGroups: [apps]
      apiVersions: [v1]
      operations: [CREATE, UPDATE]
      resources: [deployments]
  validations:
  - expression: object.spec.replicas <= 20
    message: a deployment has at most 20 replicas
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata:
  name: replicas
spec:
  policyName: replicas
  validationActions: [Deny]
";

const DEPLOYMENT: &str = "\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: NAME
  namespace: shop
  labels:
    app.kubernetes.io/name: NAME
spec:
  replicas: COUNT
  selector:
    matchLabels:
      app: NAME
  template:
    metadata:
      labels:
        app: NAME
    spec:
      restartPolicy: Always
      containers:
      - name: main
        image: registry.example.com/NAME:1.COUNT
        imagePullPolicy: IfNotPresent
        ports:
        - name: http
          containerPort: 80COUNT
        env:
        - name: LEVEL
          value: \"COUNT\"
        - name: POD
          valueFrom:
            fieldRef:
              fieldPath: metadata.name
        resources:
          requests:
            cpu: COUNT0m
            memory: COUNTMi
          limits:
            cpu: 1
            memory: 1Gi
        readinessProbe:
          httpGet:
            path: /ready
            port: http
          periodSeconds: COUNT
        volumeMounts:
        - name: config
          mountPath: /etc/NAME
        - name: scratch
          mountPath: /tmp
      volumes:
      - name: config
        configMap:
          name: NAME
      - name: scratch
        emptyDir: {}
";
const SERVICE: &str = "\
apiVersion: v1
kind: Service
metadata:
  name: NAME
  namespace: shop
spec:
  type: ClusterIP
  selector:
    app: NAME
  ports:
  - name: http
    port: 80
    targetPort: http
  - name: metrics
    port: 90COUNT
    targetPort: 9090
";
const CONFIG_MAP: &str = "\
apiVersion: v1
kind: ConfigMap
metadata:
  name: NAME
  namespace: shop
  annotations:
    shop.example.com/level: \"COUNT\"
data:
  shop.properties: |
    level=COUNT
    name=NAME
  mode: fast
";
const SECRET: &str = "\
apiVersion: v1
kind: Secret
metadata:
  name: NAME
  namespace: shop
type: Opaque
data:
  token: cGFydA==
";
const CRON_JOB: &str = "\
apiVersion: batch/v1
kind: CronJob
metadata:
  name: NAME
  namespace: shop
spec:
  schedule: \"COUNT 3 * * *\"
  concurrencyPolicy: Forbid
  jobTemplate:
    spec:
      template:
        spec:
          restartPolicy: OnFailure
          containers:
          - name: main
            image: registry.example.com/NAME:1.COUNT
            args: [--level, \"COUNT\"]
";
const AUTOSCALER: &str = "\
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata:
  name: NAME
  namespace: shop
spec:
  minReplicas: 2
  maxReplicas: 1COUNT
  scaleTargetRef:
    apiVersion: apps/v1
    kind: Deployment
    name: NAME
  metrics:
  - type: Resource
    resource:
      name: cpu
      target:
        type: Utilization
        averageUtilization: COUNT
";
const BUDGET: &str = "\
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata:
  name: NAME
  namespace: shop
spec:
  minAvailable: COUNT%
  selector:
    matchLabels:
      app: NAME
";
const INGRESS: &str = "\
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata:
  name: NAME
  namespace: shop
spec:
  rules:
  - host: NAME.example.com
    http:
      paths:
      - path: /
        pathType: Prefix
        backend:
          service:
            name: NAME
            port:
              name: http
";
const STATEFUL_SET: &str = "\
apiVersion: apps/v1
kind: StatefulSet
metadata:
  name: NAME
  namespace: shop
spec:
  serviceName: NAME
  replicas: COUNT
  selector:
    matchLabels:
      app: NAME
  template:
    metadata:
      labels:
        app: NAME
    spec:
      containers:
      - name: main
        image: registry.example.com/NAME:1.COUNT
        volumeMounts:
        - name: data
          mountPath: /data
  volumeClaimTemplates:
  - metadata:
      name: data
    spec:
      accessModes: [ReadWriteOnce]
      resources:
        requests:
          storage: COUNTGi
";
const ROLE: &str = "\
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata:
  name: NAME
  namespace: shop
rules:
- apiGroups: [\"\"]
  resources: [configmaps]
  verbs: [get, list, watch]
";
const BACKUP: &str = "\
apiVersion: shop.example.com/v1
kind: Backup
metadata:
  name: NAME
  namespace: shop
spec:
  size: small
  keep: COUNT
";

/// A kind of object of the set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    Deployment,
    Service,
    ConfigMap,
    Secret,
    CronJob,
    Autoscaler,
    Budget,
    Ingress,
    StatefulSet,
    Role,
    Backup,
}

// === impl Part ===

impl Part {
    /// Draws a kind: deployments, services and configuration are the most frequent ones.
    pub(super) fn drawn(rng: &mut Rng) -> Self {
        match rng.u8(0..20) {
            0..=4 => Self::Deployment,
            5..=8 => Self::Service,
            9..=11 => Self::ConfigMap,
            12 => Self::Secret,
            13 => Self::CronJob,
            14 => Self::Autoscaler,
            15 => Self::Budget,
            16 => Self::Ingress,
            17 => Self::StatefulSet,
            18 => Self::Role,
            _ => Self::Backup,
        }
    }

    /// Returns the manifest of an object of this kind.
    pub(super) fn manifest(self, name: &str, rng: &mut Rng) -> String {
        let template = match self {
            Self::Deployment => DEPLOYMENT,
            Self::Service => SERVICE,
            Self::ConfigMap => CONFIG_MAP,
            Self::Secret => SECRET,
            Self::CronJob => CRON_JOB,
            Self::Autoscaler => AUTOSCALER,
            Self::Budget => BUDGET,
            Self::Ingress => INGRESS,
            Self::StatefulSet => STATEFUL_SET,
            Self::Role => ROLE,
            Self::Backup => BACKUP,
        };
        let count = rng.u8(10..20).to_string();
        template.replace("NAME", name).replace("COUNT", &count)
    }
}
